/**
 * Backfill of a chain from an empty folder until all is served, compared with Ponder (ponder.sh) on the same node. `up`
 * stores candles, prices and statistics; Ponder stores one table of swaps in its default database. Both run as whole
 * processes, startup included.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { knownContracts } from '../rig/evm/contracts.js'
import type { OpenMarket } from '../rig/evm/opening.js'
import { chainFactsOf } from '../rig/evm/source-run.js'
import { isV2, isV3, type V2Pool, type V3Pool } from '../rig/evm/world.js'
import { removeScratchFolders, scratchFolder, startCommand } from '../rig/http/command.js'
import { startUp } from '../rig/http/up.js'
import { writePonderProject } from '../rig/ponder/project.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { printTable } from './measure.js'

const LIMIT = 2
const POLL_MS = 50
const WITHIN_MS = 600_000
/** Ponder finishes its backfill at the last final block, which it assumes to be 30 below the head on this chain. */
const UNTIL_FINAL = 40

export async function benchIndexer(market: OpenMarket, swaps: number): Promise<boolean> {
  const last = Number(await market.node.rpc<string>('eth_blockNumber'))
  for (let block = 0; block < UNTIL_FINAL; block++) await market.node.rpc('evm_mine', [])
  try {
    const theirs = await byPonder(market, swaps)
    const ours = await byUp(market, last)
    const ratio = theirs / ours
    printTable(`EVM history until it is stored and served (${swaps.toLocaleString('en')} swaps)`, [
      ['', 'seconds', 'swaps/s'],
      ['Ponder, the swaps', theirs, swaps / theirs],
      ['up, everything', ours, swaps / ours],
    ])
    console.log(`  Ponder ÷ ours = ${ratio.toFixed(1)} (at least ${LIMIT})${ratio < LIMIT ? '  TOO LITTLE' : ''}`)
    return ratio >= LIMIT
  } finally {
    removeScratchFolders()
  }
}

/** `last`: the block of the last swap. */
async function byUp({ node, contracts }: OpenMarket, last: number): Promise<number> {
  const section = { rpc: [node.url], start: 1, finality: 64, contracts: knownContracts(contracts) }
  const since = performance.now()
  const plan = { folder: scratchFolder(), chains: [chainFactsOf(contracts)], sections: { base: section } }
  const up = await startUp(plan)
  const { seq } = await up.until('base', `at ${last}`, ({ head }) => head !== null && head >= last)
  while (((await up.metrics()).get('dextape_store_seq{chain="base"}') ?? 0) < seq) await sleep(POLL_MS)
  const seconds = (performance.now() - since) / 1000
  await up.stop()
  return seconds
}

async function byPonder({ node, pools }: OpenMarket, swaps: number): Promise<number> {
  const folder = scratchFolder()
  const chosen = pools.filter((pool): pool is V2Pool | V3Pool => isV2(pool) || isV3(pool))
  const program = await writePonderProject(folder, { chainId: 8453, rpcUrl: node.url, pools: chosen })
  const port = await steadyPort()
  const since = performance.now()
  const options = { cwd: folder, env: { PONDER_TELEMETRY_DISABLED: '1' }, program }
  const { child, ended } = startCommand(['start', '--schema', 'public', '--port', String(port)], options)
  let end: unknown
  void ended.then((value) => {
    end = value
  })
  try {
    while ((await swapsKept(`http://127.0.0.1:${port}`)) !== swaps) {
      if (end !== undefined) throw new Error(`Ponder ended: ${JSON.stringify(end)}`)
      if (performance.now() - since > WITHIN_MS) throw new Error('Ponder did not get to the end')
      await sleep(POLL_MS)
    }
    return (performance.now() - since) / 1000
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

/** Undefined until the backfill is done. */
async function swapsKept(url: string): Promise<number | undefined> {
  try {
    if ((await fetch(`${url}/ready`)).status !== 200) return undefined
    const query = { query: '{ swaps(limit: 1) { totalCount } }' }
    const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(query) }
    const { data } = (await (await fetch(`${url}/graphql`, asked)).json()) as {
      data: { swaps: { totalCount: number } }
    }
    return data.swaps.totalCount
  } catch {
    return undefined
  }
}
