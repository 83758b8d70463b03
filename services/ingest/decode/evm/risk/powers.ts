/**
 * What a token's owner or anybody else can do with it, by the functions of its contract. Names as tokens commonly have
 * them; a function that writes storage and is in no list is an unknown power, never a harmless one.
 */
import { selectorOf } from '../abi/keccak.js'
import type { CodeSurvey, FunctionSurvey } from './survey-code.js'

export type Power =
  | 'mint'
  | 'pause'
  | 'blacklist'
  | 'whitelist'
  | 'fees'
  | 'personalFees'
  | 'cooldown'
  | 'limits'
  | 'balances'
  | 'takeBack'

const NAMES: Record<Power, string> = {
  mint: `mint(address,uint256) mint(uint256) mint(address) mint() mint(uint256,address) mintTo(address,uint256)
    mintToken(address,uint256) mintTokens(address,uint256) mintTokens(uint256) mintBatch(address[],uint256[])
    batchMint(address[],uint256[]) ownerMint(uint256) ownerMint(address,uint256) adminMint(address,uint256) issue(uint256)
    issue(address,uint256) increaseSupply(uint256) increaseTotalSupply(uint256) generateTokens(address,uint256)
    addSupply(uint256) crosschainMint(address,uint256) bridgeMint(address,uint256) addMinter(address) setMinter(address)
    grantRole(bytes32,address) configureMinter(address,uint256) mintWithSignature(address,uint256,bytes)`,
  pause: `pause() unpause() setPaused(bool) setPause(bool) pauseTrading() stop() start() pauseToken() unpauseToken()
    setTrading(bool) setTradingEnabled(bool) setTradingStatus(bool) tradingStatus(bool) enableTrading() openTrading()
    disableTrading() setTradingActive(bool) closeTrading() startTrading() setSwapEnabled(bool) setTransferEnabled(bool)
    enableTransfers(bool) disableTransfers() lockTransfers() setTransfersEnabled(bool) setCanTrade(bool) freezeAll()
    setTradeOpen(bool) launch() setLaunch(bool) setTradingOpen(bool) tradingOpen(bool) enableTrading(uint256)`,
  blacklist: `blacklist(address) unblacklist(address) unBlacklist(address) blacklist(address,bool) blacklist(address[])
    setBlacklist(address,bool) setBlackList(address,bool) addBlacklist(address) addBlackList(address)
    removeBlacklist(address) removeBlackList(address) addToBlacklist(address) addToBlackList(address)
    removeFromBlacklist(address) removeFromBlackList(address) blacklistAddress(address,bool) blacklistAddress(address)
    blacklistAccount(address,bool) updateBlacklist(address,bool) setBlacklisted(address,bool) multiBlacklist(address[])
    setIsBlacklisted(address,bool) manageBlacklist(address,bool) setBot(address,bool) setBots(address[]) addBot(address)
    addBots(address[]) delBot(address) delBots(address[]) blockBots(address[]) unblockBot(address) removeBot(address)
    setBots(address[],bool) setBots(address,bool) isBot(address,bool) antiBot(address,bool) ban(address) unban(address)
    banAddress(address) freeze(address) unfreeze(address) freezeAccount(address,bool) freezeAccount(address)
    setFrozen(address,bool) lockAddress(address) lockAccount(address) blockAccount(address) blockAddress(address)
    blockAddress(address,bool) setBlocked(address,bool) deny(address) denyAddress(address) setSniper(address,bool)
    addSniper(address) setEarlyBuyer(address,bool) manage_blacklist(address[],bool) bulkBlacklist(address[],bool)`,
  whitelist: `whitelist(address) whitelist(address,bool) setWhitelist(address,bool) setWhiteList(address,bool)
    addWhitelist(address) addToWhitelist(address) removeFromWhitelist(address) whitelistAddress(address,bool)
    setWhitelisted(address,bool) updateWhitelist(address,bool) excludeFromFee(address) includeInFee(address)
    excludeFromFee(address,bool) excludeFromFees(address,bool) setExcludedFromFee(address,bool)
    setExcludeFromFee(address,bool) setIsFeeExempt(address,bool) setFeeExempt(address,bool) excludeFromReward(address)
    includeInReward(address) excludeMultipleAccountsFromFees(address[],bool) setIsTxLimitExempt(address,bool)
    excludeFromMaxTransaction(address,bool) setIsDividendExempt(address,bool) excludeFromDividends(address)
    setExempt(address,bool) setAllowed(address,bool) allow(address) setAuthorized(address,bool) authorize(address)
    setExcludedFromFees(address,bool) excludeFromLimits(address,bool)`,
  fees: `setFee(uint256) setFees(uint256,uint256) setFees(uint256,uint256,uint256) setFees(uint256) setTax(uint256)
    setFees(uint256,uint256,uint256,uint256) setFees(uint256,uint256,uint256,uint256,uint256) setTaxes(uint256,uint256)
    setTaxes(uint256,uint256,uint256) setTaxes(uint256,uint256,uint256,uint256) setBuyFee(uint256) setSellFee(uint256)
    setBuyTax(uint256) setSellTax(uint256) setTransferFee(uint256) setTransferTax(uint256) setBuyTaxes(uint256,uint256)
    setSellTaxes(uint256,uint256) setBuyFees(uint256,uint256,uint256) setSellFees(uint256,uint256,uint256)
    updateFees(uint256,uint256) updateFees(uint256,uint256,uint256) updateBuyFees(uint256,uint256,uint256)
    updateSellFees(uint256,uint256,uint256) updateBuyFees(uint256,uint256) updateSellFees(uint256,uint256)
    updateFee(uint256) updateFee(uint256,uint256) updateTax(uint256) changeFee(uint256) changeTax(uint256)
    setTaxFee(uint256) setTaxFeePercent(uint256) setLiquidityFeePercent(uint256) setLiquidityFee(uint256)
    setMarketingFee(uint256) setMarketingFeePercent(uint256) setDevFee(uint256) setBurnFee(uint256) setTaxRate(uint256)
    setFeeRate(uint256) setTotalFee(uint256) reduceFee(uint256) reduceTax(uint256) setParams(uint256,uint256)
    setSlippage(uint256) setReflectionFee(uint256) setTreasuryFee(uint256) manualSetFee(uint256) setFeePercent(uint256)
    setBasisPointsRate(uint256) setFinalTax(uint256,uint256) removeTax() setTaxPercent(uint256) setBuySellFee(uint256,uint256)`,
  personalFees: `setFeeFor(address,uint256) setTaxFor(address,uint256) setFee(address,uint256) setTax(address,uint256)
    setUserFee(address,uint256) setPersonalFee(address,uint256) setCustomFee(address,uint256) setFeeOf(address,uint256)`,
  cooldown: `setCooldown(uint256) setCooldown(bool) setCooldownEnabled(bool) setCooldownTime(uint256)
    cooldownEnabled(bool,uint8) setCooldownPeriod(uint256) setTransferDelay(uint256) setTransferDelayEnabled(bool)
    disableTransferDelay() setTradeCooldown(uint256) setSellCooldown(uint256) setBuyCooldown(uint256)
    setCooldownInterval(uint256) setLockTime(uint256)`,
  limits: `setMaxTx(uint256) setMaxTxAmount(uint256) setMaxTxPercent(uint256) setMaxTransactionAmount(uint256)
    setMaxWallet(uint256) setMaxWalletAmount(uint256) setMaxWalletSize(uint256) setMaxWalletPercent(uint256)
    setMaxWalletToken(uint256) updateMaxTxnAmount(uint256) updateMaxWalletAmount(uint256) setTxLimit(uint256)
    updateMaxTransactionAmount(uint256) setMaxSellAmount(uint256) setMaxSell(uint256) setMaxBuy(uint256)
    setMaxBuyAmount(uint256) setMaxHold(uint256) setLimits(uint256,uint256) setLimit(uint256) removeLimits()
    removeLimit() disableLimits() setLimitsEnabled(bool) setMaxBalance(uint256) setMaxTransfer(uint256)
    setMaxTransferAmount(uint256) setMaxWalletLimit(uint256) updateLimits(uint256,uint256) setMaxAmount(uint256)
    setWalletLimit(uint256) setMaxTxnAmount(uint256) setRule(bool,address,uint256,uint256)`,
  balances: `setBalance(address,uint256) burn(address,uint256) burnFromOwner(address,uint256) forceTransfer(address,address,uint256)
    seize(address,uint256) confiscate(address) wipe(address) wipeFrozenAddress(address) destroyBlackFunds(address)
    adminTransfer(address,address,uint256) ownerTransfer(address,address,uint256) clawback(address,uint256)
    reclaim(address,uint256) forceBurn(address,uint256) adminBurn(address,uint256) rebase(uint256,int256) rebase()
    recoverTokens(address,uint256) multiTransfer(address,address[],uint256) controllerTransfer(address,address,uint256,bytes,bytes)`,
  takeBack: `takeOwnership() reclaimOwnership() takeBackOwnership() unlock() lock(uint256) restoreOwnership()
    setOwner(address) changeOwner(address) claimOwnership() recoverOwnership() setAdmin(address) changeAdmin(address)`,
}

/** Functions of standards: EIP-20, 2612, 677, 1363, 3009, 5805, WETH9, Ownable. Which variables each may write. */
const STANDARD: readonly (readonly [string, 'none' | 'supply' | 'owner'])[] = [
  ...named('none', 'transfer(address,uint256) transferFrom(address,address,uint256) approve(address,uint256)'),
  ...named('none', 'increaseAllowance(address,uint256) decreaseAllowance(address,uint256)'),
  ...named(
    'none',
    'increaseApproval(address,uint256) decreaseApproval(address,uint256) approveAndCall(address,uint256,bytes)',
  ),
  ...named('none', 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32) delegate(address)'),
  ...named(
    'none',
    'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32) cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)',
  ),
  ...named(
    'none',
    'delegateBySig(address,uint256,uint256,uint8,bytes32,bytes32) transferAndCall(address,uint256,bytes)',
  ),
  ...named('none', 'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)'),
  ...named('none', 'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)'),
  ...named('none', 'deposit() withdraw(uint256) transferFromAndCall(address,address,uint256,bytes)'),
  ...named('supply', 'burn(uint256) burnFrom(address,uint256)'),
  ...named('owner', 'transferOwnership(address) renounceOwnership() acceptOwnership() cancelOwnershipTransfer()'),
]

function named(writes: 'none' | 'supply' | 'owner', signatures: string): [string, typeof writes][] {
  return signatures.split(' ').map((signature) => [selectorOf(signature), writes])
}

const STANDARD_WRITES = new Map(STANDARD)
const POWER_OF = new Map(
  (Object.keys(NAMES) as Power[]).flatMap((power) =>
    NAMES[power]
      .split(/\s+/)
      .map((signature): [string, { power: Power; signature: string }] => [selectorOf(signature), { power, signature }]),
  ),
)
const MOVES = ['transfer(address,uint256)', 'transferFrom(address,address,uint256)'].map(selectorOf)
const SUPPLY = ['totalSupply()'].map(selectorOf)
const OWNER = ['owner()', 'getOwner()', 'pendingOwner()'].map(selectorOf)

export type Powers = {
  /** The functions that give it, by signature. */
  found: ReadonlyMap<Power, readonly string[]>
  /** Selectors that write storage and whose purpose is unknown. */
  unknown: readonly string[]
  /** Why the functions could not all be listed or followed; null: they were. */
  opaque: string | null
  destroys: boolean
  delegates: boolean
  /** Of `transfer` and `transferFrom`. */
  moves: { callsOut: boolean; readsBlock: boolean; writesVariables: boolean }
}

export function powersOf(survey: CodeSurvey): Powers {
  const { functions, otherwise, constants } = survey
  const all = [...functions.values(), otherwise]
  const moving = MOVES.flatMap((selector) => functions.get(selector) ?? [])
  const slots = { none: new Set<bigint>(), supply: read(functions, SUPPLY), owner: read(functions, OWNER) }
  const found = new Map<Power, string[]>()
  const unknown: string[] = []
  for (const [selector, { writes, delegates, writesSlots, isOpaque }] of functions) {
    const known = POWER_OF.get(selector)
    // A view of the same name as a setter changes nothing.
    if (known !== undefined && (writes || delegates || isOpaque)) add(found, known.power, known.signature)
    if (known !== undefined || !writes) continue
    const standard = STANDARD_WRITES.get(selector)
    if (MOVES.includes(selector)) continue
    if (standard === undefined || ![...writesSlots].every((slot) => slots[standard].has(slot))) unknown.push(selector)
  }
  const opaque = opaqueReason(survey, moving)
  // Where the dispatcher was not understood, a constant that is a known selector is the best evidence.
  if (opaque !== null && functions.size === 0) {
    for (const constant of constants) {
      const known = POWER_OF.get(constant)
      if (known !== undefined) add(found, known.power, known.signature)
    }
  }
  return {
    found,
    unknown: unknown.sort(),
    opaque,
    destroys: all.some(({ destroys }) => destroys),
    delegates: all.some(({ delegates }) => delegates),
    moves: {
      callsOut: moving.some(({ callsOut }) => callsOut),
      readsBlock: moving.some(({ readsBlock }) => readsBlock),
      writesVariables: moving.some(({ writesSlots }) => writesSlots.size > 0),
    },
  }
}

function opaqueReason({ functions, otherwise }: CodeSurvey, moving: readonly FunctionSurvey[]): string | null {
  if (moving.length < MOVES.length) return 'its functions could not be listed'
  if (otherwise.isOpaque || [...functions.values()].some(({ isOpaque }) => isOpaque))
    return 'a part of its code could not be followed'
  return otherwise.writes ? 'it writes storage in calls of no listed function' : null
}

function read(functions: CodeSurvey['functions'], selectors: readonly string[]): Set<bigint> {
  return new Set(selectors.flatMap((selector) => [...(functions.get(selector)?.readsSlots ?? [])]))
}

function add(found: Map<Power, string[]>, power: Power, signature: string): void {
  const list = found.get(power)
  if (list === undefined) found.set(power, [signature])
  else list.push(signature)
}
