/** Tracks balances and writes one event per changed balance at the block's end; also assigns events their positions. */
import type { ChainFamily } from '../../../core/domain/chains.js'
import type { Event } from '../../../core/domain/records.js'
import { type AddressBook, spellTxHash } from './addresses.js'
import { type MarketState, type Pool, SLOT, type Token } from './market-state.js'
import type { Random } from './random.js'

export type Ledger = {
  balanceOf(token: Token, slot: number): bigint
  /** Adds to a wallet's balance. The caller changes the other side: a pool or another wallet. */
  change(token: Token, slot: number, delta: bigint): void
  /** The exchange sends what is missing; false: it does not have enough. */
  provide(token: Token, slot: number, amount: bigint): boolean
  /** A swap changes the pool's reserves: reported at the block's end, in thin history only with its next liquidity change. */
  touch(pool: Pool): void
  /** Reports the pool's balances at the block's end in any case. */
  reportPool(pool: Pool): void
  walletAddress(slot: number): string
  /** Replaces a wallet: its tokens go to the exchange, and a new wallet takes its slot. */
  replaceWallet(slot: number): void
  /** Writes the changed balances, at the block's end. */
  writeBalances(): void
}

const BURN_ADDRESS: Record<ChainFamily, string> = {
  evm: '0x000000000000000000000000000000000000dead',
  solana: '1nc1nerator11111111111111111111111111111111',
}

export function createLedger(
  state: MarketState,
  family: ChainFamily,
  book: AddressBook,
  writer: BlockWriter,
  isLive: boolean,
): Ledger {
  const changed = new Map<Token, Map<number, bigint>>()
  const touched = new Set<Pool>()
  const left: { token: Token; address: string; before: bigint }[] = []

  const walletAddress = (slot: number): string =>
    slot === SLOT.burn ? BURN_ADDRESS[family] : book('wallet', state.wallets[slot] ?? 0)
  const balanceOf = (token: Token, slot: number): bigint => token.balances.get(slot) ?? 0n

  function change(token: Token, slot: number, delta: bigint): void {
    let slots = changed.get(token)
    if (slots === undefined) {
      slots = new Map()
      changed.set(token, slots)
    }
    const before = balanceOf(token, slot)
    if (!slots.has(slot)) slots.set(slot, before)
    const after = before + delta
    if (after < 0n) throw new Error(`Balance of ${token.symbol} in wallet slot ${slot} would be negative: ${after}`)
    if (after === 0n) token.balances.delete(slot)
    else token.balances.set(slot, after)
  }

  function writeBalance(token: Token, holder: string, before: bigint, after: bigint): void {
    // The anchor is never a pair's target: its holders are not reported.
    if (before === after || token === state.anchor) return
    const { tx_index, log_index, sub, tx_hash } = writer.place()
    const [delta, balance] = family === 'evm' ? [(after - before).toString(), null] : [null, after.toString()]
    writer.events.push({
      type: 'balance',
      tx_index,
      log_index,
      sub,
      tx_hash,
      token: token.address,
      holder,
      delta,
      balance,
    })
  }

  return {
    balanceOf,
    change,
    provide(token, slot, amount) {
      const missing = amount - balanceOf(token, slot)
      if (missing <= 0n) return true
      const available = balanceOf(token, SLOT.exchange)
      if (slot === SLOT.exchange || available < missing) return false
      const sent = available >= amount * 3n ? amount * 3n : missing
      change(token, SLOT.exchange, -sent)
      change(token, slot, sent)
      return true
    },
    touch(pool) {
      if (isLive || pool.curve !== null) touched.add(pool)
    },
    reportPool(pool) {
      touched.add(pool)
    },
    walletAddress,
    replaceWallet(slot) {
      const address = walletAddress(slot)
      for (const token of state.tokens) {
        const balance = token.balances.get(slot)
        const before = changed.get(token)?.get(slot) ?? balance ?? 0n
        if (balance !== undefined) {
          change(token, slot, -balance)
          change(token, SLOT.exchange, balance)
        }
        if (before !== 0n) left.push({ token, address, before })
        changed.get(token)?.delete(slot)
      }
      state.wallets[slot] = state.nextWallet++
    },
    writeBalances() {
      for (const { token, address, before } of left) writeBalance(token, address, before, 0n)
      for (const [token, slots] of changed)
        for (const [slot, before] of slots) writeBalance(token, walletAddress(slot), before, balanceOf(token, slot))
      for (const pool of touched) {
        const base = pool.baseReserve + (pool.curve?.keptBack ?? 0n)
        writeBalance(pool.base, pool.address, pool.toldBase, base)
        writeBalance(pool.quote, pool.address, pool.toldQuote, pool.quoteReserve)
        pool.toldBase = base
        pool.toldQuote = pool.quoteReserve
      }
    },
  }
}

export type Place = { tx_index: number; log_index: number; sub: number; tx_hash: string }

export type BlockWriter = {
  /** Starts a transaction for the next events. */
  transaction(): void
  /** The position of the next event. */
  place(): Place
  readonly events: Event[]
  swaps: number
}

export function createBlockWriter(family: ChainFamily, random: Random): BlockWriter {
  let txIndex = -1
  let logIndex = -1
  let txHash = ''
  return {
    transaction() {
      txIndex += 1
      txHash = spellTxHash(family, random)
      // EVM logs are numbered per block, Solana instructions per transaction.
      if (family !== 'evm') logIndex = -1
    },
    place() {
      logIndex += 1
      return { tx_index: txIndex, log_index: logIndex, sub: 0, tx_hash: txHash }
    },
    events: [],
    swaps: 0,
  }
}
