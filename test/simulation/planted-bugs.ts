/** Bugs of the kinds that such systems have: each is one change of the services' code, and the simulation must catch it. */
import type { PlantedBug } from './bundle.js'

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'checkpoint before the rows are stored',
    file: 'services/aggregate/chain-pipeline.ts',
    from: '    await sink.flush(seq)\n    await deps.beforeCheckpoint?.()\n    await commit(captured)\n',
    to: '    await deps.beforeCheckpoint?.()\n    await commit(captured)\n    await sink.flush(seq)\n',
  },
  {
    name: 'a checkpoint is a record ahead of what it holds',
    file: 'services/aggregate/chain-pipeline.ts',
    from: 'checkpoints.capture(state, history, position, keptChanges())',
    to: 'checkpoints.capture(state, history, position + 1, keptChanges())',
  },
  {
    name: 'a failed write passes for a stored one',
    file: 'services/aggregate/sink/sink.ts',
    from: 'must not pass for a stored one: a checkpoint follows.\n      check()\n',
    to: 'must not pass for a stored one: a checkpoint follows.\n',
  },
  {
    name: 'progress is stored before its rows',
    file: 'services/aggregate/sink/encode-rows.ts',
    from: 'return ORDER.flatMap((table)',
    to: 'return [...ORDER].reverse().flatMap((table)',
  },
  {
    name: 'an undo forgets a bucket of the windows',
    file: 'services/aggregate/fold/fold-retract.ts',
    from: 'if (op === OP.newBucket) ring.remove(index)\n',
    to: 'if (op === OP.newBucket) { if (!ofToken && interval !== K1) ring.remove(index) }\n',
  },
  {
    name: 'an undo forgets the wallets of a window',
    file: 'services/aggregate/fold/fold-retract.ts',
    from: 'windows?.setWallet(wallet, buyS, sellS)',
    to: 'void [windows, wallet, buyS, sellS]',
  },
  {
    name: 'an undo forgets a balance',
    file: 'services/aggregate/fold/fold-retract.ts',
    from: 'this.holdings.set(of.token, of.holder, of)',
    to: '',
  },
  {
    name: 'a seq is used twice',
    file: 'services/aggregate/fold/fold-retract.ts',
    from: 'state.seq += 1\n',
    to: '\n',
  },
  {
    name: 'updates after a restart count from the wrong one',
    file: 'services/aggregate/epoch.ts',
    from: 'seq: part === lastPart ? seq : seq - 1',
    to: 'seq: seq + 1',
  },
  {
    name: 'repeated blocks are told by their offset alone',
    file: 'services/aggregate/accept-record.ts',
    from: 'if (history.has(block.number, block.hash)) return undefined',
    to: '',
  },
  {
    name: 'a repeated retract is not recognised',
    file: 'services/aggregate/accept-record.ts',
    from: 'if (history.has(retract.from_number, name)) return undefined',
    to: '',
  },
  {
    name: 'a source resumes at its checkpoint though the log is further',
    file: 'services/ingest/resume-source.ts',
    from: 'const isCurrent = checkpoint.chains[resumedChain]?.hash === head.hash',
    to: 'const isCurrent = true',
  },
  {
    name: 'retention deletes what serve has not read',
    file: 'services/aggregate/retention.ts',
    from: 'Math.min(old, ...read.map((offset) => offset ?? end), written.endHeld(end))',
    to: 'Math.max(old, end - 1) + 0 * (read.length + written.endHeld(end))',
  },
  {
    name: 'an update that came twice is pushed twice',
    file: 'services/serve/memory/apply-update.ts',
    from: "if (update.seq <= state.seq) return { kind: 'seen' }",
    to: "if (update.seq < state.seq) return { kind: 'seen' }",
  },
  {
    name: 'a resumed client gets its last push again',
    file: 'services/serve/push/replay-sweep.ts',
    from: 'return at.seq > place.seq || (at.seq === place.seq && at.n > place.n)',
    to: 'return at.seq > place.seq || (at.seq === place.seq && at.n >= place.n)',
  },
  {
    name: 'a client goes live before it has caught up',
    file: 'services/serve/push/catch-up.ts',
    from: 'if (next === undefined) continue\n',
    to: 'if (next === undefined || next.seq % 3 === 0) continue\n',
  },
  {
    name: 'a client that is ahead of its node does not wait',
    file: 'services/serve/push/catch-up.ts',
    from: 'if (!isBehind || nowMs()',
    to: 'if (isBehind || nowMs()',
  },
  {
    name: 'a restarted serve pushes a pair as a later update left it',
    file: 'services/serve/memory/follow-chain.ts',
    from: 'if (state.loadedThrough <= state.seq) return',
    to: 'return',
    seed: 1252,
  },
  {
    name: 'a replayed candle closes with what its pair became later',
    file: 'services/serve/memory/replay-recent.ts',
    from: 'inexactThrough = Math.max(inexactThrough, usesOf(pair))',
    to: 'usesOf(pair)',
    seed: 3494,
  },
  {
    name: 'a reorg is replayed without the candles it removed',
    file: 'services/serve/memory/replay-recent.ts',
    from: 'if (!born.has(pair)) inexactThrough = update.seq',
    to: '',
    seed: 2157,
  },
]
