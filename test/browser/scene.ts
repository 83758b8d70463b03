/** One server and one browser for all tests of the pages. */
import type { BlockUpdate } from '../../services/core/domain/records.js'
import { hashKey } from '../../services/core/keys/key-store.js'
import { type Browser, openBrowser } from '../rig/browser/chromium.js'
import { openPage, type WatchedPage } from '../rig/browser/watched-page.js'
import { KEY, keyRecord, type Rig, startRig } from '../serve/rig.js'
import { CHAIN, PAIR, T0, TOKEN, update } from '../serve/updates.js'
import { manyTokens, nextUpdate, openingUpdate } from './market.js'
import { moversUpdate } from './movers.js'

export { KEY }
export const OPERATOR_KEY = 'dx_operator_key'
export const PAIR_ID = `${PAIR}-${CHAIN}`
export const TOKEN_PATH = `/token/${CHAIN}/${TOKEN}`
export const PAIR_PATH = `/pair/${CHAIN}/${PAIR}`
export const PHONE = { width: 390, height: 844 }

export type Scene = {
  rig: Rig
  browser: Browser
  /** Origin of the server. */
  base: string
  /** Of the last block that was fed. */
  seq: number
  /** The page of the current test. */
  watched: WatchedPage | undefined
  /** Opens an address as a new visitor. */
  open(path: string): Promise<WatchedPage>
  /** Feeds the next block, which changes the pair at a price. */
  feedNext(priceUsd: number, given: Parameters<typeof nextUpdate>[2]): Promise<void>
  /** The next block, not fed yet. */
  next(given: Partial<BlockUpdate>): BlockUpdate
  close(): Promise<void>
}

/** Fills the scene in place: tests keep the object they were declared with. */
export async function openScene(scene: Scene): Promise<void> {
  const browser = await openBrowser()
  const rig = await startRig()
  rig.keys.set(hashKey(OPERATOR_KEY), keyRecord({ id: 'k2', name: 'ops', plan: 'operator' }))
  await rig.append(openingUpdate(), manyTokens('bsc', 1020), moversUpdate())
  await rig.start()
  const filled: Scene = {
    ...{ rig, browser, seq: 1, watched: undefined },
    base: new URL('/', (await rig.get('/health')).url).origin,
    async open(path) {
      const watched = await openPage(browser.context)
      scene.watched = watched
      await watched.page.goto(`${scene.base}/pages/icon.svg`)
      await watched.page.evaluate('localStorage.clear()')
      await watched.page.goto(`${scene.base}${path}`)
      return watched
    },
    async feedNext(priceUsd, given) {
      scene.seq += 1
      await rig.feed(nextUpdate(scene.seq, priceUsd, given))
    },
    next(given) {
      scene.seq += 1
      const { seq } = scene
      return update({ seq, number: 100 + seq, hash: `0xb${100 + seq}`, time: T0 + seq, now: T0 + seq, ...given })
    },
    async close() {
      await browser.close()
      await rig.stop()
    },
  }
  Object.assign(scene, filled)
}
