/** Buys and sells of an account by day: counted by the server, whatever their number. */
import { useEvery, useLoaded } from '../app/store.js'
import { texts } from '../app/texts.js'
import { toNumber, usdShort, whole } from '../show/format.js'
import { Await } from '../show/parts.js'
import { askRows } from '../sql/ask-rows.js'
import { quoted } from '../sql/sql-text.js'

const DAY_S = 86_400
const DAYS = 30
const REFRESH_MS = 60_000
const HEIGHT_PX = 56
type Day = { day: string; buys: number; sells: number; usd: number }

async function readDays(address: string, chain: string, signal: AbortSignal): Promise<Day[]> {
  const wallet = address.startsWith('0x') ? address.toLowerCase() : address
  const query = `SELECT toString(toDate(time)) AS day, countIf(side = 'buy') AS buys, countIf(side = 'sell') AS sells,
  sum(amount_usd) AS usd FROM wallet_trades
WHERE chain = ${quoted(chain)} AND wallet = ${quoted(wallet)} GROUP BY day ORDER BY day DESC LIMIT ${DAYS}`
  return (await askRows(query, signal)).map((row) => ({
    ...{ day: String(row.day), buys: Number(row.buys), sells: Number(row.sells) },
    usd: toNumber(row.usd as string),
  }))
}

export function Activity({ address, chain, nowS }: { address: string; chain: string; nowS: number }) {
  const days = useLoaded((signal) => readDays(address, chain, signal), [address, chain])
  useEvery(REFRESH_MS, days.reload)
  return (
    <Await of={days} rows={3}>
      {(found) => {
        const byDay = new Map(found.map((one) => [one.day, one]))
        const most = Math.max(1, ...found.map(({ buys, sells }) => buys + sells))
        const last = Math.floor(nowS / DAY_S)
        return (
          <ol class="days">
            {Array.from({ length: DAYS }, (_, at) => {
              const day = new Date((last - DAYS + 1 + at) * DAY_S * 1000).toISOString().slice(0, 10)
              const { buys = 0, sells = 0, usd = 0 } = byDay.get(day) ?? {}
              const words = texts.wallet.day(day, whole(buys), whole(sells), usdShort(usd))
              return (
                <li key={day} title={words}>
                  <span class="visually-hidden">{words}</span>
                  {buys + sells > 0 && <small class="num">{whole(buys + sells)}</small>}
                  <span class="bar-up" style={{ height: `${(buys / most) * HEIGHT_PX}px` }} />
                  <span class="bar-down" style={{ height: `${(sells / most) * HEIGHT_PX}px` }} />
                  <small class="soft num">{day.slice(8)}</small>
                </li>
              )
            })}
          </ol>
        )
      }}
    </Await>
  )
}
