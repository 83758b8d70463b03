import { Type } from '@sinclair/typebox'
import type { LiquidityTrade, Trade } from '../../../core/domain/records.js'
import { liquidityFields, liquidityItem } from '../../views/event-items.js'
import { int, text } from '../../views/field-formats.js'
import { anyWalletChannel, walletChannel } from '../channels.js'
import { ChainParam, readAddress, readCount } from '../params.js'
import type { EntryPusher, PushContext, Topic } from '../topic.js'
import type { PairEntry } from '../update-snapshot.js'
import { swapResult, swapText } from './swap-text.js'
import { swapFields } from './tx.js'

export const wallet: Topic = {
  name: 'wallet',
  summary: 'Every swap and liquidity event of a wallet, in any pair',
  params: Type.Tuple([Type.String({ description: 'Wallet address' }), ChainParam]),
  result: Type.Object({
    id: Type.String({ description: 'Wallet address' }),
    topic: Type.Literal('wallet'),
    event: Type.Union([Type.Literal('swap'), Type.Literal('liquidity')]),
    tx: Type.Union([Type.Object(swapFields), Type.Object({ ...liquidityFields(text), time: int })]),
    cursor: text,
  }),
  onSlow: 'disconnect',
  parse(args, context) {
    readCount(args, ['a wallet address', 'a chain'], 'wallet')
    const { address, chain } = readAddress(context, args[0], args[1], 'wallet address')
    const channel = walletChannel(address, chain)
    const refills = () => [{ path: '/v2/address/tx', query: { wallet_address: address, chain }, isRanged: true }]
    // The second one gets the retracts: which wallets an orphaned event had is not known any more.
    const channels = [channel, anyWalletChannel(chain)]
    return { canonical: channel, channels, chains: [chain], refills, snapshot: () => [] }
  },
}

/** The events of a pair, each to the subscribers of its wallet. Numbered as on every topic. */
export const pushWalletEvents: EntryPusher = (context, entry, n) => {
  const { trades, liquidity } = entry
  for (const [index, trade] of trades.entries())
    push(context, entry, trade, n + index, () => swapOf(context, entry, trade))
  for (const [index, event] of liquidity.entries())
    push(context, entry, event, n + trades.length + index, () => liquidityOf(context, entry, event))
}

function push(
  { update, out, cursor }: PushContext,
  { at }: PairEntry,
  event: Trade | LiquidityTrade,
  n: number,
  make: () => object,
): void {
  const channel = walletChannel(event.wallet, at.chain)
  if (event.wallet === '' || !out.isWanted(channel)) return
  const mark = cursor(n)
  const kind = 'kind' in event ? 'liquidity' : 'swap'
  const result = JSON.stringify(
    { id: event.wallet, topic: 'wallet', event: kind, tx: make(), cursor: mark },
    // Pushes have no null, except where no wallet has a tag.
    (name, value: unknown) => (value === null && name !== 'wallet_tag' ? '' : value),
  )
  out.publish([channel], { topic: 'wallet', n, result, mergeKey: `${update.chain}|${mark}`, sentTime: true })
}

function swapOf({ update }: PushContext, { at }: PairEntry, trade: Trade): object {
  return (JSON.parse(swapResult(swapText(at, update, trade), '')) as { tx: object }).tx
}

function liquidityOf({ update }: PushContext, { at }: PairEntry, event: LiquidityTrade): object {
  const item = liquidityItem(at, { ...event, timeS: update.timeS, blockNumber: update.number })
  return { ...item, time: update.timeS }
}
