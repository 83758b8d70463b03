/** Reads the risk of tokens at a block's end, as meta events that end the block. */
import { DextapeError } from '../../../core/domain/errors.js'
import type { Event, MetaEvent } from '../../../core/domain/records.js'
import type { TokenCheck } from '../../decode/evm/block/risk-checks.js'
import type { EvmBlock } from '../../decode/evm/log.js'
import { inspectToken, type TokenInspection } from '../../decode/evm/risk/inspect-token.js'
import { riskOf } from '../../decode/evm/risk/token-risk.js'
import type { ChainReader } from './chain-reader.js'

type ReadState = NonNullable<ChainReader['state']>

/** `last`: the block's last event. A token that could not be read at all has no event. */
export async function checkTokens(
  checks: readonly TokenCheck[],
  block: EvmBlock,
  last: Event | undefined,
  readState: ReadState,
  signal: AbortSignal,
  onPruned: (error: DextapeError) => void,
): Promise<MetaEvent[]> {
  const read = await Promise.all(checks.map((check) => inspected(check, block, readState, signal, onPruned)))
  const place = placeAfter(last, block)
  const metas: MetaEvent[] = []
  for (const one of read) {
    const found = one === null ? null : riskOf(one, block.number)
    if (one === null || found === null) continue
    const facts = {
      total_supply: null,
      owner: found.owner,
      risk: JSON.stringify(found.risk),
      logo_url: null,
      links: null,
    }
    metas.push({ type: 'meta', ...place, sub: place.sub + metas.length, token: one.token, ...facts })
  }
  return metas
}

async function inspected(
  { token, pool }: TokenCheck,
  block: EvmBlock,
  readState: ReadState,
  signal: AbortSignal,
  onPruned: (error: DextapeError) => void,
): Promise<TokenInspection | null> {
  const inspection = inspectToken(token, pool, block.hash)
  let answers: readonly (string | null)[] = []
  try {
    for (;;) {
      const { done, value } = inspection.next(answers)
      if (done === true) return value
      answers = await readState(value, block, signal)
    }
  } catch (error) {
    if (!(error instanceof DextapeError && error.code === 'state_pruned')) throw error
    onPruned(error)
    return null
  }
}

/** Behind the block's last event, or at its last log if it has none. */
function placeAfter(
  last: Event | undefined,
  { logs }: EvmBlock,
): Pick<MetaEvent, 'tx_index' | 'log_index' | 'sub' | 'tx_hash'> {
  if (last !== undefined)
    return { tx_index: last.tx_index, log_index: last.log_index, sub: last.sub + 1, tx_hash: last.tx_hash }
  const log = logs.at(-1)
  return { tx_index: log?.txIndex ?? 0, log_index: log?.logIndex ?? 0, sub: 0, tx_hash: log?.txHash ?? '' }
}
