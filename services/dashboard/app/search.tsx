/** Search over tokens, pairs and wallets: the `/` key opens it. */
import type { TokensKeywordItem } from '@dextape/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { price, shortAddress, usdShort } from '../show/format.js'
import { Avatar, ChainMark, Change } from '../show/parts.js'
import { isLookalike, RiskMarks } from '../show/risk-marks.js'
import { go, pairPath, tokenPath, walletPath } from './router.js'
import { ask } from './session.js'
import { status } from './status.js'
import { texts } from './texts.js'

type Hit =
  | { kind: 'token'; href: string; token: TokensKeywordItem }
  | { kind: 'pair' | 'wallet'; href: string; chain: string; address: string; label: string }

const LIMIT = 30
/** Tokens whose pairs are looked through. */
const PAIRED = 8
const WAIT_MS = 120
const EVM = /^0x[0-9a-f]{40}$/i
const EVM_POOL = /^0x[0-9a-f]{64}$/i
const SOLANA = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

export function Search() {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const [hits, setHits] = useState<Hit[] | undefined>(undefined)
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(0)

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = (event.target as Element | null)?.closest?.('input, textarea, select, [contenteditable]')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])

  useEffect(() => {
    const keyword = text.trim()
    setAt(0)
    if (keyword === '') return setHits(undefined)
    const ending = new AbortController()
    const timer = setTimeout(() => {
      findHits(keyword, ending.signal).then(setHits, () => ending.signal.aborted || setHits([]))
    }, WAIT_MS)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text])

  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return
    setOpen(false)
    setText('')
    field.current?.blur()
    go(hit.href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const count = hits?.length ?? 0
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setAt((old) => (count === 0 ? 0 : (old + (event.key === 'ArrowDown' ? 1 : count - 1)) % count))
    } else if (event.key === 'Enter') open(hits?.[at])
    else if (event.key === 'Escape') {
      setOpen(false)
      field.current?.blur()
    }
  }
  const isShown = isOpen && text.trim() !== '' && hits !== undefined
  return (
    <div class="search">
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-label={texts.search.label}
        aria-expanded={isShown}
        aria-controls="search-results"
        aria-autocomplete="list"
        {...(isShown && hits.length > 0 ? { 'aria-activedescendant': `hit-${at}` } : {})}
        placeholder={texts.search.hint}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setOpen(true)
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setTimeout(() => setOpen(false), 150)}
        onKeyDown={onKeyDown}
      />
      <span class="slash mono" aria-hidden="true">
        /
      </span>
      {isShown && (
        <div class="hits sheet">
          <div id="search-results" role="listbox" aria-label={texts.search.results}>
            {hits.map((hit, index) => (
              <a
                key={hit.href}
                id={`hit-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === at}
                href={hit.href}
                onMouseEnter={() => setAt(index)}
                onClick={(event) => {
                  event.preventDefault()
                  open(hit)
                }}
              >
                {hit.kind === 'token' ? <TokenHit hit={hit} /> : <PlaceHit hit={hit} />}
              </a>
            ))}
          </div>
          {hits.length === 0 && <p class="soft">{texts.search.none(text.trim())}</p>}
          <p class="soft hint">{texts.search.keys}</p>
        </div>
      )}
    </div>
  )
}

function TokenHit({ hit: { token } }: { hit: Extract<Hit, { kind: 'token' }> }) {
  return (
    <>
      <Avatar id={token.token} label={token.symbol} />
      <span class="hit-name">
        <b>{token.symbol || shortAddress(token.token)}</b> <span class="soft">{token.name}</span>
        <RiskMarks token={token} />
        <small class="soft">
          <ChainMark chain={token.chain} /> <span class="mono">{shortAddress(token.token)}</span>
        </small>
      </span>
      <span class="hit-figures num">
        <span>${price(token.current_price_usd)}</span>
        <small>
          <Change value={token.price_change_24h} /> <span class="soft">{usdShort(token.tvl)} TVL</span>
        </small>
      </span>
    </>
  )
}

function PlaceHit({ hit }: { hit: Extract<Hit, { kind: 'pair' | 'wallet' }> }) {
  return (
    <>
      <Avatar id={hit.address} label={hit.kind === 'pair' ? '⇄' : '@'} />
      <span class="hit-name">
        <b>{hit.label}</b>
        <small class="soft">
          <ChainMark chain={hit.chain} /> <span class="mono">{shortAddress(hit.address)}</span>
        </small>
      </span>
    </>
  )
}

async function findHits(keyword: string, signal: AbortSignal): Promise<Hit[]> {
  const [tokens, places] = await Promise.all([
    ask('tokensKeyword', { keyword, limit: LIMIT, orderby: 'main_pair_tvl' }, signal),
    findPlaces(keyword, signal),
  ])
  if (tokens.length === 0 && places.length === 0) return findPairs(keyword, signal)
  const found = tokens.map(
    (token): Hit => ({
      ...{ kind: 'token', href: tokenPath(token.chain, token.token), token },
    }),
  )
  const rank = (hit: Hit) => (hit.kind === 'token' && isLookalike(hit.token) ? 1 : 0)
  const isToken = tokens.some(({ token }) => token.toLowerCase() === keyword.toLowerCase())
  return [...found.sort((a, b) => rank(a) - rank(b)), ...(isToken ? [] : places)]
}

/** Two symbols, as `TKN/WETH` or `tkn weth`: the pairs of tokens that are named like the first with one like the second. */
async function findPairs(keyword: string, signal: AbortSignal): Promise<Hit[]> {
  const [first = '', second = ''] = keyword.split(/[\s/·-]+/).filter(Boolean)
  if (second === '') return []
  const tokens = await ask('tokensKeyword', { keyword: first, limit: PAIRED, orderby: 'main_pair_tvl' }, signal)
  const details = await Promise.all(
    tokens.map(({ token, chain }) => ask('tokenDetail', { token_id: `${token}-${chain}` }, signal)),
  )
  const starts = (symbol: string) => symbol.toLowerCase().startsWith(second.toLowerCase())
  return details.flatMap((detail) =>
    (detail?.pairs ?? [])
      .filter((pair) => starts(pair.token0_address === detail?.token.token ? pair.token1_symbol : pair.token0_symbol))
      .map((pair) => pairHit(pair)),
  )
}

type Pair = { chain: string; pair: string; token0_symbol: string; token1_symbol: string; amm: string }

const pairHit = ({ chain, pair, amm, token0_symbol, token1_symbol }: Pair): Hit => ({
  ...{ kind: 'pair', href: pairPath(chain, pair), chain, address: pair },
  label: `${token0_symbol} / ${token1_symbol} · ${amm}`,
})

/** An address may be a pair; any account can be a wallet. */
async function findPlaces(keyword: string, signal: AbortSignal): Promise<Hit[]> {
  const isEvm = EVM.test(keyword)
  if (!isEvm && !EVM_POOL.test(keyword) && !SOLANA.test(keyword)) return []
  const isSolana = !keyword.startsWith('0x')
  const chains = (status.get()?.chains ?? [])
    .map(({ chain }) => chain)
    .filter((chain) => (chain === 'solana') === isSolana)
  const hits = await Promise.all(
    chains.map(async (chain): Promise<Hit[]> => {
      const pair = await ask('pairDetail', { pair_id: `${keyword}-${chain}` }, signal).catch(() => null)
      if (pair !== null) return [pairHit(pair)]
      if (!isEvm && !isSolana) return []
      const label = texts.search.walletOn(chain)
      return [{ kind: 'wallet', href: walletPath(chain, keyword), chain, address: keyword, label }]
    }),
  )
  return hits.flat().sort((a, b) => Number(a.kind === 'wallet') - Number(b.kind === 'wallet'))
}
