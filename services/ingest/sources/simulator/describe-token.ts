/** A new token: its made-up name, and the events of its facts and its contract's risks. */
import type { Token } from './market-state.js'
import type { Stage } from './stage.js'

export function describeToken({ writer }: Stage, token: Token): void {
  writer.events.push({
    type: 'token',
    ...writer.place(),
    token: token.address,
    name: token.name,
    symbol: token.symbol,
    decimals: token.decimals,
    total_supply: token.supply.toString(),
  })
}

export type Look = {
  creator: string
  /** The contract's owner; null: renounced. */
  owner: string | null
  /** 0 harmless to 100. */
  riskScore: number
  burned?: bigint
  platform?: string
}

const HIGH_RISK = 55
const LISTED = 20

/** Risk facts under the names of GET /v2/contracts, and the flags of a token's lists. */
export function describeRisk({ writer, random }: Stage, token: Token, look: Look): void {
  const { riskScore, creator, owner } = look
  const risky = (threshold: number): number => (riskScore > threshold && random.chance(0.7) ? 1 : 0)
  const mintable = risky(50)
  const blacklist = risky(65)
  const tax = riskScore > 60 ? random.int(1, 9) / 100 : 0
  const closed = risky(75)
  const risk = {
    creator_address: creator,
    ...{ has_code: 1, is_proxy: risky(70), is_open_source: 1 - closed, has_not_open_source: closed },
    ...{ has_mint_method: mintable, is_mintable: mintable, has_black_method: blacklist, is_in_blacklist: 0 },
    ...{ has_white_method: 0, transfer_pausable: risky(70), hidden_owner: risky(80), can_take_back_ownership: 0 },
    ...{ owner_change_balance: 0, selfdestruct: 0, external_call: 0, is_anti_whale: risky(40), trading_cooldown: 0 },
    ...{ slippage_modifiable: risky(72), cannot_buy: 0, cannot_sell_all: 0, is_honeypot: riskScore > 92 ? 1 : 0 },
    ...{ buy_tax: tax, sell_tax: tax, transfer_tax: 0, has_not_renounced: owner === null ? 0 : 1 },
    ...{ has_not_audited: riskScore < LISTED ? 0 : 1, is_lp_not_locked: risky(45), is_in_dex: 1 },
    ...{ burn_amount: (look.burned ?? 0n).toString(), risk_score: riskScore },
    risk_level: riskScore > HIGH_RISK ? -1 : riskScore < LISTED ? 1 : 0,
    issue_platform: look.platform ?? '',
  }
  writer.events.push({
    type: 'meta',
    ...writer.place(),
    token: token.address,
    total_supply: null,
    owner,
    risk: JSON.stringify(risk),
    logo_url: null,
    links: linksOf(token),
    holders_complete: null,
  })
}

export type Project = { symbol: string; name: string }

const project = (text: string): Project => {
  const [symbol = '', name = ''] = text.split(':')
  return { symbol, name }
}

export const PROJECTS: readonly Project[] = [
  ...['OTTR:Otter Finance', 'LUMN:Lumen Network', 'QUAY:Quay Protocol', 'FJRD:Fjord Markets', 'MOSS:Moss Carbon'],
  ...['KELP:Kelp Restaking', 'HALO:Halo Identity', 'BRZE:Breeze Pay', 'TIDE:Tidewater', 'NOVA:Nova Compute'],
  ...['RUNE9:Runestone Nine', 'PIXL:Pixel Forge', 'ORBT:Orbit Bridge', 'GRVL:Gravel', 'SABL:Sable Perps'],
  ...['VELA2:Velarium', 'CHAI:Chai Latte', 'DRFT:Driftwood', 'ECHO:Echo Oracle', 'FERN:Fern Social'],
  ...['GLXY:Galaxy Guild', 'HIVE7:Hive Seven', 'INKY:Inkwell', 'JADE:Jade Vaults', 'KITE:Kite Messaging'],
  ...['LYNX:Lynx Data', 'MINT:Mintleaf', 'NEON9:Neon District', 'OPAL:Opal Lending', 'PLUM:Plum Yield'],
  ...['QRTZ:Quartz Options', 'REEF2:Reefline', 'SAGE:Sage AI', 'TUSK:Tusk Storage', 'UMBR:Umbra Mail'],
  ...['VOLT9:Voltaic', 'WREN:Wren Index', 'XENO:Xenolith', 'YARN:Yarn Rollups', 'ZEST:Zest Games'],
  ...['ACRN:Acorn', 'BAYS:Bayside', 'CNDR:Cinder', 'DUSK9:Dusk Nine', 'EMBR:Ember Grid'],
].map(project)

const MOODS = [
  'Sleepy',
  'Based',
  'Tiny',
  'Turbo',
  'Moody',
  'Golden',
  'Lazy',
  'Angry',
  'Cosmic',
  'Soggy',
  'Brave',
  'Shy',
]
const BEASTS = [
  'Otter',
  'Frog',
  'Shiba',
  'Goose',
  'Capybara',
  'Cat',
  'Hamster',
  'Penguin',
  'Duck',
  'Llama',
  'Mole',
  'Yak',
]

export function memeName(serial: number, pick: <T>(items: readonly T[]) => T): Project {
  const [mood, beast] = [pick(MOODS), pick(BEASTS)]
  const symbol = `${mood.slice(0, 2)}${beast.slice(0, 4)}`.toUpperCase()
  return { symbol: serial % 3 === 0 ? `${symbol}${serial % 100}` : symbol, name: `${mood} ${beast}` }
}

function linksOf({ symbol }: Project): string {
  const handle = symbol.toLowerCase()
  return JSON.stringify({ website: `https://${handle}.example`, twitter: `https://x.example/${handle}` })
}
