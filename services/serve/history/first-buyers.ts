/** Who bought in the first blocks of a pool, and what gives them away (docs/data.md). */

/** The block of the first liquidity and those that follow. */
export const FIRST_BLOCKS = 3

export type Launch = { blockNumber: number /** Who provided the first liquidity. */; provider: string }

/** Of blocks that are not before the launch. */
export function isFirstBlock({ blockNumber }: Launch, block: number): boolean {
  return block < blockNumber + FIRST_BLOCKS
}

export type FirstBuy = {
  blockNumber: number
  txIndex: number
  wallet: string
  /** Of the quote token. */
  paidRaw: string
}

export type FirstBuyers = Record<'snipers' | 'insiders' | 'bundled' | 'clustered', ReadonlySet<string>>

export const NO_BUYERS: FirstBuyers = {
  ...{ snipers: new Set(), insiders: new Set(), bundled: new Set(), clustered: new Set() },
}

/** `buys` in the order of the chain. */
export function classifyBuyers(launch: Launch, buys: readonly FirstBuy[]): FirstBuyers {
  const { blockNumber, provider } = launch
  const first = buys.filter((buy) => buy.wallet !== '' && isFirstBlock(launch, buy.blockNumber))
  const insiders = new Set(first.filter((buy) => buy.blockNumber === blockNumber).map(({ wallet }) => wallet))
  if (provider !== '') insiders.add(provider)
  return {
    snipers: new Set(first.map(({ wallet }) => wallet)),
    insiders,
    bundled: membersOf(runsOf(first)),
    clustered: membersOf(groupsOf(first)),
  }
}

/** Buys in transactions that follow one another without a gap. */
function runsOf(buys: readonly FirstBuy[]): FirstBuy[][] {
  const runs: FirstBuy[][] = []
  let last: FirstBuy | undefined
  for (const buy of buys) {
    const isNext = last?.blockNumber === buy.blockNumber && buy.txIndex - last.txIndex <= 1
    if (isNext) runs.at(-1)?.push(buy)
    else runs.push([buy])
    last = buy
  }
  return runs
}

/** Buys of one block for the same amount, to the last unit. */
function groupsOf(buys: readonly FirstBuy[]): FirstBuy[][] {
  const groups = new Map<string, FirstBuy[]>()
  for (const buy of buys) {
    const key = `${buy.blockNumber}/${buy.paidRaw}`
    groups.set(key, [...(groups.get(key) ?? []), buy])
  }
  return [...groups.values()]
}

/** The wallets of those with at least two. */
function membersOf(groups: readonly (readonly FirstBuy[])[]): Set<string> {
  const members = new Set<string>()
  for (const group of groups) {
    const wallets = new Set(group.map(({ wallet }) => wallet))
    if (wallets.size > 1) for (const wallet of wallets) members.add(wallet)
  }
  return members
}

export type LaunchRates = Record<
  'sniper_wallet_rate' | 'insider_wallet_rate' | 'bundle_wallet_rate' | 'cluster_wallet_rate',
  number | null
>

export const UNKNOWN_RATES: LaunchRates = {
  ...{ sniper_wallet_rate: null, insider_wallet_rate: null, bundle_wallet_rate: null, cluster_wallet_rate: null },
}

/** `kept`: by wallet, what it bought less what it sold, raw; below 0 counts as none. Parts of the supply. */
export function ratesOf(buyers: FirstBuyers, kept: ReadonlyMap<string, bigint>, supplyRaw: bigint): LaunchRates {
  if (supplyRaw <= 0n) return UNKNOWN_RATES
  const rate = (wallets: ReadonlySet<string>): number => {
    const raws = [...wallets].map((wallet) => kept.get(wallet) ?? 0n)
    return Number((raws.reduce((sum, raw) => (raw > 0n ? sum + raw : sum), 0n) * PARTS) / supplyRaw) / Number(PARTS)
  }
  return {
    sniper_wallet_rate: rate(buyers.snipers),
    insider_wallet_rate: rate(buyers.insiders),
    bundle_wallet_rate: rate(buyers.bundled),
    cluster_wallet_rate: rate(buyers.clustered),
  }
}

const PARTS = 1_000_000n
