/**
 * Which positions (ERC-721) a pool has, and which of them were locked: from the logs of pools, position managers and lockers. Pools do
 * not list them. Signatures: `INonfungiblePositionManager` of @uniswap/v3-periphery, `IUNCX_LiquidityLocker_UniV3` of
 * uncx-network/liquidity-locker-univ3-contracts; `LiquidityLocked` of UNCX's V4 lockers in DefiLlama's adapter. In V4 the salt of a
 * position is the id of its token (`PositionManager` of Uniswap/v4-periphery).
 */
import type { KnownLocker } from '../../../../core/config/contracts/lockers.js'
import type { TokenChecks } from '../../../../core/config/evm-source.js'
import { BURN_ADDRESSES } from '../../../../core/domain/chains.js'
import { addressAtEnd } from '../abi/abi-words.js'
import { topicOf } from '../abi/keccak.js'
import { TRANSFER } from '../erc20.js'
import type { EvmBlock, EvmLog } from '../log.js'
import type { ChainContracts } from '../protocol.js'
import { INITIALIZE, MODIFY_LIQUIDITY } from '../protocols/uniswap-v4/v4-logs.js'
import type { Book, KnownPositions } from './book.js'
import type { DecodeRules } from './decode-rules.js'

const POSITION = '(uint96,address,address,address,uint24,int24,int24,uint128,uint256,uint256,uint128,uint128)'
const ON_LOCK = topicOf(
  `onLock(uint256,address,uint256,address,address,address,uint256,uint16,uint256,address,${POSITION})`,
)
const LOCK_CHANGES = [
  ...['onWithdraw(uint256,address,address)', 'onRelock(uint256,uint256)', 'onMigrate(uint256)'],
  ...['onIncreaseLiquidity(uint256)', 'onDecreaseLiquidity(uint256)'],
].map(topicOf)
const CHANGED = new Set(LOCK_CHANGES)
const MINT = topicOf('Mint(address,address,int24,int24,uint128,uint256,uint256)')
const INCREASE = topicOf('IncreaseLiquidity(uint256,uint128,uint256,uint256)')
/** Uniswap's and Pancake's. */
const POOL_CREATED = topicOf('PoolCreated(address,address,uint24,int24,address)')

/** Of ERC-721: the parties and the token's id are indexed. */
const TOKEN_TOPICS = 4

const LIQUIDITY_LOCKED = topicOf('LiquidityLocked(uint256,address,address,uint256,bytes32,uint256,uint256)')

/** What is wanted beside the logs of pools. */
export const POSITION_TOPICS: readonly string[] = [INCREASE, ON_LOCK, LIQUIDITY_LOCKED, ...LOCK_CHANGES]

/** More of one pool are not followed: the list is then incomplete. */
const MOST_POSITIONS = 64

export type PositionRules = Pick<TokenChecks, 'lockers' | 'positionManagers'>

/** Those of V3, and those that V4's pool managers name. */
export const positionManagersOf = ({ contracts }: ChainContracts, ofV3: readonly string[]): string[] => [
  ...ofV3,
  ...[...contracts.values()].flatMap(({ protocol, others }) =>
    protocol === 'uniswap-v4' && others?.positions !== undefined ? [others.positions] : [],
  ),
]

/** Called for every block after it was decoded, while the book is at it. Returns pools of which a lock changed. */
export function notePositions(
  { logs }: Pick<EvmBlock, 'logs'>,
  book: Book,
  { contracts }: Pick<DecodeRules, 'contracts'>,
  { lockers = [], positionManagers: ofV3 = [] }: PositionRules,
): string[] {
  const positionManagers = positionManagersOf(contracts, ofV3)
  if (positionManagers.length === 0) return []
  const isLocker = (kind: KnownLocker['kind'], address: string) =>
    lockers.some((locker) => locker.kind === kind && locker.address === address)
  const changed: string[] = []
  let minted: { pool: string; owner: string; txHash: string } | null = null
  for (const log of logs) {
    const { address, topics, data, txHash } = log
    const [topic = '', indexed = ''] = topics
    if (topic === MINT) minted = { pool: address, owner: addressAtEnd(indexed), txHash }
    else if (topic === INCREASE) {
      // The manager reports the position right after the pool reported its liquidity.
      if (minted?.owner === address && minted.txHash === txHash && positionManagers.includes(address))
        addPosition(minted.pool, { manager: address, id: BigInt(indexed).toString() }, book)
    } else if (topic === POOL_CREATED) {
      const pool = addressAtEnd(data)
      if (book.venue(pool) !== undefined) book.putPositions(pool, { list: [], isComplete: true })
    } else if (topic === ON_LOCK || CHANGED.has(topic)) {
      if (!isLocker('uncx-v3', address)) continue
      const pool = topic === ON_LOCK ? noteLock(log, book) : book.poolOf(address, idAt(log, 0))
      if (pool !== undefined) changed.push(pool)
    } else if (topic === MODIFY_LIQUIDITY) {
      const manager = addressAtEnd(topics[2] ?? '')
      if (contracts.contracts.get(address)?.others?.positions === manager)
        addPosition(indexed, { manager, id: idAt(log, 3) }, book)
    } else if (topic === INITIALIZE) {
      if (book.venue(indexed)?.venue.facts?.manager === address)
        book.putPositions(indexed, { list: [], isComplete: true })
    } else if (topic === LIQUIDITY_LOCKED && isLocker('uncx-v4', address)) {
      const [manager, id, unlockAt] = [addressIn(log, 0), idAt(log, 1), idAt(log, 3)]
      book.putPositionLock(manager, id, { locker: address, lockId: BigInt(indexed).toString(), unlockAt })
      const pool = book.poolOf(manager, id)
      if (pool !== undefined) changed.push(pool)
    } else if (topic === TRANSFER && topics.length === TOKEN_TOPICS && positionManagers.includes(address)) {
      const parties = topics.slice(1, TOKEN_TOPICS - 1).map(addressAtEnd)
      const pool = book.poolOf(address, BigInt(topics[TOKEN_TOPICS - 1] ?? 0).toString())
      const isVault = (party: string) => isLocker('uncx-v4', party) || BURN_ADDRESSES.evm.includes(party)
      if (pool !== undefined && parties.some(isVault)) changed.push(pool)
    }
  }
  return changed
}

/** Lock id, manager, position, owner, collectors, date, country, fee, pool, then the position's facts. */
function noteLock(log: EvmLog, book: Book): string | undefined {
  const [lockId, manager, id, pool] = [idAt(log, 0), addressIn(log, 1), idAt(log, 2), addressIn(log, 9)]
  book.putPositionLock(manager, id, { locker: log.address, lockId })
  book.putPoolOf(log.address, lockId, pool)
  if (book.venue(pool) === undefined) return undefined
  addPosition(pool, { manager, id }, book)
  return pool
}

function addPosition(pool: string, position: KnownPositions['list'][number], book: Book): void {
  if (book.venue(pool) === undefined) return
  const { list, isComplete } = book.positions(pool) ?? { list: [], isComplete: false }
  if (list.some(({ manager, id }) => manager === position.manager && id === position.id)) return
  book.putPoolOf(position.manager, position.id, pool)
  if (list.length < MOST_POSITIONS) book.putPositions(pool, { list: [...list, position], isComplete })
  else if (isComplete) book.putPositions(pool, { list, isComplete: false })
}

const WORD_DIGITS = 64
const wordIn = ({ data }: EvmLog, word: number): string =>
  `0x${data.slice(2 + word * WORD_DIGITS, 2 + (word + 1) * WORD_DIGITS).padStart(WORD_DIGITS, '0')}`
const idAt = (log: EvmLog, word: number): string => BigInt(wordIn(log, word)).toString()
const addressIn = (log: EvmLog, word: number): string => addressAtEnd(wordIn(log, word))
