/** Buyers for the first blocks of a generated market's pools: four that buy at once, two of each token, and a known supply. */
import type { generateRecording } from '../../rig/market/generate.js'
import type { RecordingEvent } from '../../rig/reference/lines.js'

type Lines = ReturnType<typeof generateRecording>

const SUPPLY = '1000000000000000000000000'
const BUYERS = [0, 1, 2, 3]

export function withFirstBuys(lines: Lines): Lines {
  const events = lines.flatMap((line) => ('events' in line ? line.events : []))
  const wallets = [...new Set(events.flatMap((event) => (event.type === 'swap' ? [event.wallet ?? ''] : [])))]
  const pools = new Map(events.flatMap((event) => (event.type === 'pool' ? [[event.pool, event] as const] : [])))
  const own = (event: RecordingEvent): object[] => {
    if (event.type === 'token') return [{ type: 'meta', token: event.token, total_supply: SUPPLY }]
    const pool = event.type === 'liquidity' && event.kind === 'create' ? pools.get(event.pool) : undefined
    if (event.type !== 'liquidity' || pool === undefined) return []
    return BUYERS.map((buyer) => {
      const wallet = wallets[(buyer * 7 + pools.size) % wallets.length]
      const part = buyer === 3 ? 900n : 1_000n
      const sides = [
        { token: pool.token0, amount: String(BigInt(event.amount0) / part) },
        { token: pool.token1, amount: String(BigInt(event.amount1) / part) },
      ]
      const [paid, bought] = buyer % 2 === 0 ? sides : sides.reverse()
      return {
        ...{ type: 'swap', pool: event.pool, amm: event.amm, sender: wallet, recipient: wallet, wallet },
        ...{ token_in: paid?.token, amount_in: paid?.amount, token_out: bought?.token, amount_out: bought?.amount },
      }
    })
  }
  return lines.map((line) => {
    if (!('events' in line)) return line
    const last = line.events.at(-1)
    const added = line.events.flatMap(own).map((event, at) => {
      const place = { tx_index: (last?.tx_index ?? 0) + 1 + at, log_index: (last?.log_index ?? 0) + 1 + at }
      return { ...event, ...place, tx_hash: last?.tx_hash } as RecordingEvent
    })
    return { ...line, events: [...line.events, ...added] }
  })
}
