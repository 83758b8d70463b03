/** Tokens on launch platforms, in three columns, as they move from one to the next. */
import type { TokensPlatformItem } from '@dextape/client'
import { useEffect } from 'preact/hooks'
import { route, setQuery, tokenPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { status } from '../app/status.js'
import { useEvery, useLoaded, useValue } from '../app/store.js'
import { texts } from '../app/texts.js'
import { shortAddress, usdShort, whole } from '../show/format.js'
import { Age, Avatar, Await, ChainMark, Change, Choices, Empty, LivePrice, Panel } from '../show/parts.js'
import { RiskMarks } from '../show/risk-marks.js'

const COLUMNS = ['new', 'almost', 'graduated'] as const
type Column = (typeof COLUMNS)[number]
const TAGS: Record<Column, string> = { new: 'in_new', almost: 'in_almost', graduated: 'out_new' }
const REFRESH_MS = 3000
const LIMIT = 60

type Board = { platforms: string[]; columns: Record<Column, TokensPlatformItem[]> }

async function readBoard(chosen: string, signal: AbortSignal): Promise<Board> {
  const launched = await ask('tokensPlatform', { tag: 'meme', limit: 300, orderby: 'created_at' }, signal)
  const platforms = [...new Set(launched.map(({ issue_platform }) => issue_platform))].filter(Boolean).sort()
  const asked = chosen === '' ? platforms : [chosen]
  const read = async (column: Column) => {
    const lists = await Promise.all(
      asked.map((platform) =>
        ask('tokensPlatform', { tag: `${platform}_${TAGS[column]}`, limit: LIMIT, orderby: 'created_at' }, signal),
      ),
    )
    return lists.flat().sort((a, b) => b.created_at - a.created_at)
  }
  const [fresh, almost, graduated] = await Promise.all(COLUMNS.map(read))
  const isAlmost = new Set(almost?.map(({ token }) => token))
  return {
    platforms,
    columns: {
      new: (fresh ?? []).filter(({ token }) => !isAlmost.has(token)),
      almost: almost ?? [],
      graduated: graduated ?? [],
    },
  }
}

export function LaunchpadView() {
  const { query } = useValue(route)
  const chosen = query.get('platform') ?? ''
  const board = useLoaded((signal) => readBoard(chosen, signal), [chosen])
  useEvery(REFRESH_MS, board.reload)
  useEffect(() => {
    document.title = `${texts.launchpad.title} · ${texts.name}`
  }, [])
  const words = texts.launchpad
  return (
    <div class="markets-view">
      <h1 class="visually-hidden">{words.title}</h1>
      <Await of={board} rows={14}>
        {({ platforms, columns }) => (
          <>
            <div class="bar">
              <Choices<string>
                label={words.platform}
                value={chosen}
                onChoose={(value) => setQuery({ platform: value })}
                options={[{ value: '', label: words.all }, ...platforms.map((value) => ({ value, label: value }))]}
              />
            </div>
            <div class="board">
              {COLUMNS.map((column) => (
                <Panel
                  key={column}
                  title={words.columns[column]}
                  aside={<span class="soft num">{columns[column].length}</span>}
                >
                  {columns[column].length === 0 ? (
                    <Empty>{words.empty}</Empty>
                  ) : (
                    <ol>
                      {columns[column].map((token) => (
                        <Launched
                          key={`${token.token}-${token.chain}`}
                          token={token}
                          isOnCurve={column !== 'graduated'}
                        />
                      ))}
                    </ol>
                  )}
                </Panel>
              ))}
            </div>
          </>
        )}
      </Await>
    </div>
  )
}

function Launched({ token, isOnCurve }: { token: TokensPlatformItem; isOnCurve: boolean }) {
  const nowS = useValue(status)?.chains.find(({ chain }) => chain === token.chain)?.time ?? 0
  return (
    <li>
      <Avatar id={token.token} label={token.symbol} size={30} />
      <div class="launched">
        <a href={tokenPath(token.chain, token.token)}>
          <b>{token.symbol || shortAddress(token.token)}</b> <span class="soft">{token.name}</span>
        </a>{' '}
        <RiskMarks token={token} />
        <small class="soft">
          <Age timeS={token.created_at} nowS={nowS} /> · <ChainMark chain={token.chain} /> · {token.issue_platform} ·{' '}
          <span class="mono">{shortAddress(token.token)}</span>
        </small>
        {isOnCurve && token.launch_progress !== null && <Progress part={Number(token.launch_progress)} />}
      </div>
      <div class="figure">
        <LivePrice value={token.current_price_usd} />
        <small class="soft num">
          {usdShort(token.market_cap)} · <Change value={token.price_change_24h} />
        </small>
      </div>
    </li>
  )
}

function Progress({ part }: { part: number }) {
  const percent = Math.min(100, Math.max(0, part * 100))
  return (
    <span class="progress" title={texts.launchpad.progress(whole(percent))}>
      <span class="part" aria-hidden="true">
        <i style={{ width: `${percent}%` }} />
      </span>
      <small class="soft num">{texts.launchpad.filled(whole(percent))}</small>
    </span>
  )
}
