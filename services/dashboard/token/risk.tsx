import type { Contracts } from '@dextape/client'
import { walletPath } from '../app/router.js'
import { ask } from '../app/session.js'
import { useLoaded } from '../app/store.js'
import { texts } from '../app/texts.js'
import { share } from '../show/format.js'
import { Address, Await, Empty } from '../show/parts.js'

/** Checks of a contract; the answer that is bad. */
const CHECKS: readonly [keyof Contracts, string, bad: 0 | 1][] = [
  ['is_honeypot', 'Honeypot', 1],
  ['cannot_sell_all', 'Cannot sell everything', 1],
  ['cannot_buy', 'Cannot buy', 1],
  ['is_open_source', 'Source published', 0],
  ['is_proxy', 'Proxy: code can be replaced', 1],
  ['has_mint_method', 'Supply can be increased', 1],
  ['has_black_method', 'Accounts can be blocked', 1],
  ['transfer_pausable', 'Transfers can be paused', 1],
  ['hidden_owner', 'Hidden owner', 1],
  ['can_take_back_ownership', 'Ownership can be taken back', 1],
  ['owner_change_balance', 'Owner can change balances', 1],
  ['selfdestruct', 'Contract can be destroyed', 1],
  ['external_call', 'Calls other contracts', 1],
  ['slippage_modifiable', 'Taxes can be changed', 1],
  ['trading_cooldown', 'Trading cooldown', 1],
  ['analysis_creator_gt_5percent', 'Creator holds more than 5 %', 1],
]

export function Risk({ tokenId, chain }: { tokenId: string; chain: string }) {
  const contract = useLoaded((signal) => ask('contracts', { token_id: tokenId }, signal), [tokenId])
  const words = texts.riskView
  return (
    <Await of={contract}>
      {(data) => {
        const checked = data === null ? [] : CHECKS.filter(([name]) => data[name] !== null && data[name] !== -1)
        if (data === null || checked.length === 0) return <Empty>{words.none}</Empty>
        return (
          <div class="risk">
            <dl class="facts">
              <dt>{words.score}</dt>
              <dd class="num">
                {data.risk_score ?? words.unknown} · {words.levels[String(data.risk_level)] ?? words.unknown}
              </dd>
              <dt>{words.taxes}</dt>
              <dd class="num">
                {taxText(data.buy_tax)} / {taxText(data.sell_tax)}
              </dd>
              <dt>{words.owner}</dt>
              <dd>
                {data.owner === '' || /^0x0+(dead)?$/.test(data.owner) ? (
                  <span class="soft">{data.owner === '' ? words.noOwner : words.renounced}</span>
                ) : (
                  <Account {...{ chain }} address={data.owner} />
                )}
              </dd>
              <dt>{words.creator}</dt>
              <dd>{data.creator_address === '' ? '–' : <Account {...{ chain }} address={data.creator_address} />}</dd>
            </dl>
            <Reasons info={data.risk_info} />
            <ul class="checks" aria-label={words.reasons}>
              {CHECKS.map(([name, label, bad]) => {
                const value = data[name]
                const isKnown = value === 0 || value === 1
                const tone = !isKnown ? 'soft' : value === bad ? 'down' : 'up'
                return (
                  <li key={name}>
                    <span>{label}</span>
                    <b class={tone}>{!isKnown ? words.unknown : value === 1 ? words.yes : words.no}</b>
                  </li>
                )
              })}
            </ul>
          </div>
        )
      }}
    </Await>
  )
}

/** Unchecked is null or -1. */
function taxText(tax: number | null): string {
  return tax === null || tax < 0 ? texts.riskView.unknown : share(tax)
}

/** The reasons for the score in words; a text of another source as it is. */
function Reasons({ info }: { info: string }) {
  if (info === '') return null
  const reasons = reasonsIn(info)
  if (reasons === undefined) return <p>{info}</p>
  return (
    <ul>
      {reasons.map((reason) => (
        <li key={reason}>{reason}</li>
      ))}
    </ul>
  )
}

function reasonsIn(info: string): string[] | undefined {
  try {
    const { reasons } = JSON.parse(info) as { reasons?: unknown }
    return Array.isArray(reasons) ? reasons.map(String) : undefined
  } catch {
    return undefined
  }
}

function Account({ address, chain }: { address: string; chain: string }) {
  return <Address address={address} href={walletPath(chain, address)} what={texts.holders.account} />
}
