/** How the dashboard feels, in figures: frames while a thousand rows scroll, bytes and times of the first view. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEY, openScene, type Scene } from './scene.js'

const LEAST_FRAMES_PER_S = 50
const MOST_BYTES = 200_000

const scene = {} as Scene
beforeAll(() => openScene(scene), 11 * 60_000)
afterAll(() => scene.close?.())

/** Scrolls up and down for three seconds, a step per frame; frames per second. */
const SCROLL = `new Promise((resolve) => {
  const box = document.querySelector('.scroller')
  const startMs = performance.now()
  let frames = 0
  const step = (nowMs) => {
    frames += 1
    box.scrollTop = (box.scrollHeight / 2) * (1 - Math.cos((nowMs - startMs) / 500))
    if (nowMs - startMs < 3000) requestAnimationFrame(step)
    else resolve((frames * 1000) / (nowMs - startMs))
  }
  requestAnimationFrame(step)
})`

describe('the dashboard', () => {
  it(`scrolls a thousand rows at ${LEAST_FRAMES_PER_S} frames per second or more`, async () => {
    const { page } = await scene.open(`/markets?chain=bsc#key=${KEY}`)
    await page.getByText('1,000+ tokens').waitFor()
    await page.evaluate(SCROLL)
    expect(await page.evaluate<number>(SCROLL)).toBeGreaterThanOrEqual(LEAST_FRAMES_PER_S)
    await page.close()
  })

  it(`sends less than ${MOST_BYTES} bytes for its first view`, async () => {
    const { page } = await scene.open('/pages/icon.svg')
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    let bytes = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await page.goto(`${scene.base}/markets?chain=eth#key=${KEY}`)
    await page.getByRole('link', { name: /^TKN/ }).first().waitFor()
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(MOST_BYTES)
    await page.close()
  })
})
