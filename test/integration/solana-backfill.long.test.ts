/** `backfill` on a Solana chain, under an `up` that started late, while slots advance and one is orphaned. */
import { afterAll, describe, expect, it } from 'vitest'
import { liveGeneration, openLog } from '../../services/cli/open-data.js'
import { BUILT_IN_CHAINS } from '../../services/core/config/built-in-chains.js'
import { findDataDir } from '../../services/core/data-dir/data-dir.js'
import { linesOf } from '../rig/chains/log-contents.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { dataDirOf, environmentOf, startUp, type UpPlan } from '../rig/http/up.js'
import { acceptedBlocks } from '../rig/reference/lines.js'
import { createLedger, FIRST_SLOT } from '../rig/solana/ledger.js'
import { keepGoing } from '../rig/solana/live.js'
import { MOVING_POOL } from '../rig/solana/moving-pool.js'
import { startRpcServer } from '../rig/solana/rpc-server.js'

const SLOT_MS = 100

const ends: (() => Promise<unknown> | unknown)[] = []
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  removeScratchFolders()
})

describe('backfill of a Solana chain', () => {
  it('replaces a shorter history while the chain moves', async () => {
    const ledger = createLedger({ seed: 3, firstTimeS: Math.floor(Date.now() / 1000) - 600 })
    ledger.advance({ blocks: 120 })
    const late = ledger.tip.slot
    ledger.advance({ blocks: 40 })
    const node = await startRpcServer(ledger)
    ends.push(() => node.stop())
    const folder = scratchFolder()
    const plan: UpPlan = {
      folder,
      chains: BUILT_IN_CHAINS.filter(({ chain }) => chain === 'solana'),
      sections: { solana: { rpc: [node.url], start: late, balances: 'scoped' } },
      settings: { intervals: { flush_ms: 100, checkpoint_ms: 200, progress_s: 1 } },
    }
    const up = await startUp(plan)
    await up.until('solana', 'followed', ({ indexed_from: from }) => from === late)
    const live = keepGoing(ledger, SLOT_MS)
    ends.push(() => live.stop())
    const env = environmentOf(plan)
    const writing = runCommand(['backfill', '--chain', 'solana', '--from', `${FIRST_SLOT}`], {
      ...{ cwd: folder, env },
      withinMs: 120_000,
    })
    ledger.die(ledger.tip.parentSlot, { branch: 'another', sameSlots: false })
    const { code, out, err } = await writing
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('Generation 2 of solana is live: blocks ')
    live.stop()
    while (ledger.tip.trades.length === 0) ledger.advance({ blocks: 1 })
    const last = ledger.tip.slot
    const served = await up.until('solana', 'served in epoch 2', ({ epoch, head }) => epoch === 2 && head === last)
    expect(served).toMatchObject({ stopped: null, source: 'solana nodes' })
    expect((await up.stop()).code).toBe(0)

    const open = await openLog({ log: { kind: 'embedded' } }, () => findDataDir(dataDirOf(folder)))
    const lines = await linesOf(open, 'solana', await liveGeneration(open.log, 'solana'))
    await open.log.close()
    const trades = acceptedBlocks(lines).flatMap(({ hash, events }) =>
      events.flatMap((event) =>
        event.type === 'swap' && event.pool === MOVING_POOL ? [`${hash} ${event.amount_in} ${event.amount_out}`] : [],
      ),
    )
    expect(trades).toEqual(
      ledger.blocks.flatMap(({ blockhash, trades: made }) =>
        made.map(({ isBuy, sol, coin }) => `${blockhash} ${isBuy ? sol : coin} ${isBuy ? coin : sol}`),
      ),
    )
    const verified = await runCommand(['verify'], { cwd: folder, env, withinMs: 120_000 })
    expect({ code: verified.code, err: verified.code === 0 ? '' : `${verified.out}\n${verified.err}` }).toEqual({
      ...{ code: 0, err: '' },
    })
  }, 300_000)
})
