/** Applies one block to the state and returns what it changed. */
import { NO_CANDLES, type PackedCandles } from '../../core/domain/packed-candles.js'
import type { Block, BlockUpdate, Event, Trade } from '../../core/domain/records.js'
import type { FoldState } from '../state/fold-state.js'
import { PAIR } from '../state/pairs.js'
import { WALLET_REACH_S, type Windows } from '../state/rolling-windows.js'
import { TOKEN } from '../state/tokens.js'
import { BlockChanges, type FoldResult } from './block-changes.js'
import type { BlockPair } from './block-pair.js'
import { holderHour } from './holder-hours.js'
import { rankMainPairs } from './main-pair.js'
import { mergeIntoPair, mergeIntoToken } from './merge-candles.js'
import { findMovedWindows, noteTraded } from './moved-windows.js'
import { notePairHours } from './pair-hours.js'
import { applyLiquidity, applyPool, applySwap } from './pool-events.js'
import { findReferencePrices } from './reference-prices.js'
import { applyBalance, applyLaunch, applyMeta, applyToken } from './token-events.js'
import { updateTvl } from './tvl.js'
import { pairInfo, pairUpdate, splitPairEntry, tokenUpdate } from './update-entries.js'

export function foldBlock(state: FoldState, block: Block): FoldResult {
  const previousNowS = state.nowS
  state.beginBlock(
    { number: block.number, hash: block.hash, timeS: block.time, parentHash: block.parent_hash },
    block.finalized_number,
  )
  const fold = new BlockChanges(state, block)
  findReferencePrices(state)
  for (const event of block.events) applyEvent(fold, event)

  const candles = mergeBlock(fold)
  updateTvl(state, [...fold.pairs.keys()])
  findReferencePrices(state)
  rankMainPairs(state, rememberMainPairs(fold))
  const moved = findMovedWindows(state, previousNowS, fold.pairs)
  const pairHours = notePairHours(state, fold.pairs.keys())
  const published = blockUpdate(fold, candles, moved)
  state.endBlock()
  return {
    ...published,
    pairHours,
    holderHours: [...fold.countedTokens].map((token) => holderHour(state, token)),
    holders: fold.holders,
    dead: fold.dead,
    goneEvents: [],
    goneCandles: [],
    goneMainPairs: [],
    swaps: fold.swaps,
  }
}

function applyEvent(fold: BlockChanges, event: Event): void {
  switch (event.type) {
    case 'swap':
      return applySwap(fold, event)
    case 'liquidity':
      return applyLiquidity(fold, event)
    case 'pool':
      return applyPool(fold, event)
    case 'token':
      return applyToken(fold, event)
    case 'balance':
      return applyBalance(fold, event)
    case 'launch':
      return applyLaunch(fold, event)
    case 'meta':
      return applyMeta(fold, event)
  }
}

/** Candles and windows of the pairs and tokens that traded. */
function mergeBlock(fold: BlockChanges): Map<number, PackedCandles> {
  const { state, block } = fold
  const candles = new Map<number, PackedCandles>()
  for (const [id, blockPair] of fold.pairs) {
    state.touchPair(id)
    state.pairs.rows.set(id, PAIR.updatedAtS, block.time)
    if (blockPair.trades.length === 0) continue
    state.pairs.rows.set(id, PAIR.lastPriceUsd, blockPair.lastPriceUsd)
    candles.set(id, mergeIntoPair(state, blockPair, block.time))
    noteTraded(state, id, block.time)
    sweepWallets(state, state.activePair(id).windows)
    // Named after the sweep, which frees names that are no longer used; from then on the pair's windows use them.
    const wallets = blockPair.trades.map(({ wallet }) => (wallet === '' ? NO_WALLET : state.names.idOf(wallet)))
    countWallets(state, 'pair', id, state.activePair(id).windows, blockPair, wallets)
    const token = state.pairs.targetToken(id)
    state.touchToken(token)
    state.tokens.rows.set(token, TOKEN.updatedAtS, block.time)
    const windows = state.tokens.windows[token]
    if (windows === null || windows === undefined) continue
    mergeIntoToken(state, token, windows, blockPair, block.time)
    sweepWallets(state, windows)
    countWallets(state, 'token', token, windows, blockPair, wallets)
  }
  return candles
}

const NO_WALLET = -1

const sweepWallets = (state: FoldState, { wallets }: Windows): void => wallets.sweep(state.finalNowS - WALLET_REACH_S)

/** `wallets`: ids of the wallets of its trades. */
function countWallets(
  state: FoldState,
  holder: 'pair' | 'token',
  id: number,
  windows: Windows,
  { trades }: BlockPair,
  wallets: readonly number[],
): void {
  const timeS = state.head?.timeS ?? 0
  const table = windows.wallets
  for (let at = 0; at < trades.length; at += 1) {
    const { wallet, sell } = trades[at] as Trade
    const walletId = wallets[at] as number
    if (walletId === NO_WALLET) continue
    const slot = table.find(walletId)
    const buyS = table.lastBuy(slot)
    const sellS = table.lastSell(slot)
    if ((sell ? sellS : buyS) >= timeS) continue
    windows.setFound(wallet, walletId, slot, sell ? buyS : timeS, sell ? timeS : sellS)
    state.journal.wallets.push({ holder, id, wallet, buyS, sellS })
  }
}

/** The tokens to re-rank; remembers their main pairs as they were when the block began. */
function rememberMainPairs(fold: BlockChanges): number[] {
  const tokens = [...fold.rankTokens]
  for (const token of tokens) {
    if (fold.mainPairsBefore.has(token)) continue
    fold.mainPairsBefore.set(token, fold.state.tokens.rows.get(token, TOKEN.mainPair))
  }
  return tokens
}

function blockUpdate(
  fold: BlockChanges,
  candles: Map<number, PackedCandles>,
  moved: number[],
): Pick<FoldResult, 'update' | 'moved'> {
  const { state } = fold
  const { journal } = state
  const tokens = new Set<number>([...fold.rankTokens, ...state.touchedTokens, ...fold.describedTokens])
  const pairs = [...fold.pairs.values()].flatMap((blockPair) => {
    const entry = pairUpdate(state, blockPair.id)
    if (blockPair.isNew || fold.republishedPairs.has(blockPair.id)) entry.info = pairInfo(state, blockPair.id)
    entry.candles = candles.get(blockPair.id) ?? NO_CANDLES
    entry.trades = blockPair.trades
    entry.liquidity = blockPair.liquidity
    return splitPairEntry(entry)
  })
  for (const id of fold.republishedPairs) {
    if (fold.pairs.has(id)) continue
    pairs.push({ ...pairUpdate(state, id), info: pairInfo(state, id) })
    tokens.add(state.pairs.targetToken(id))
  }
  const movedPairs = new Set(moved.filter((id) => !fold.republishedPairs.has(id)))
  const movedTokens = new Set<number>()
  for (const id of movedPairs) {
    const token = state.pairs.targetToken(id)
    if (!tokens.has(token)) movedTokens.add(token)
  }
  journal.publishedPairs = [...fold.pairs.keys(), ...new Set([...moved, ...fold.republishedPairs])]
  journal.touchedPairs = fold.pairs.size
  journal.publishedTokens = [...tokens, ...movedTokens]
  const changes = mainPairChanges(fold)
  journal.mainPairs = changes.map((change) => change.token)
  const entries: FoldResult['moved'] = {
    pairs: [...movedPairs].map((id) => pairUpdate(state, id)),
    tokens: [...movedTokens].map((token) => tokenUpdate(state, token, false, movedPairs)),
  }
  const update = {
    ...updateHead(state, 'block'),
    pairs,
    tokens: [...tokens].map((token) => tokenUpdate(state, token, fold.describedTokens.has(token), fold.pairs)),
    main_pair_changes: changes,
    retracted: [],
    gone_tokens: [],
    moved_pairs: entries.pairs.map(({ pair, price_day_usd, windows }) => ({ pair, price_day_usd, windows })),
    moved_tokens: entries.tokens.map(({ token, windows }) => ({ token, windows })),
  }
  return { update, moved: entries }
}

export function updateHead(state: FoldState, kind: BlockUpdate['kind']) {
  return {
    chain: state.facts.chain,
    epoch: state.epoch,
    seq: state.seq,
    kind,
    number: state.head?.number ?? 0,
    hash: state.head?.hash ?? '',
    time: state.head?.timeS ?? 0,
    now: state.nowS,
    finalized_number: state.finalizedNumber,
    part: 0,
    last_part: 0,
  }
}

function mainPairChanges(fold: BlockChanges): BlockUpdate['main_pair_changes'] {
  const { state } = fold
  const changes: BlockUpdate['main_pair_changes'] = []
  for (const [token, before] of fold.mainPairsBefore) {
    const after = state.tokens.rows.get(token, TOKEN.mainPair)
    if (after === before) continue
    const name = (pair: number) => (pair < 0 ? null : (state.pairs.address[pair] ?? null))
    changes.push({ token: state.tokens.address[token] ?? '', old_pair: name(before), new_pair: name(after) })
  }
  return changes
}
