/** What is read from Solana (or a similar cluster), and from which nodes. */
import { SOLANA_AMMS } from '../domain/exchanges.js'
import { ADDRESS_FORM } from './chain-facts.js'
import { type CheckBudgetConfig, checkBudgetOf } from './check-budget.js'
import type { ChainSection } from './file-schema.js'
import { describeNodeSource, isUrl, type NodeSource, nodeSource, withoutSecrets } from './node-source.js'

export type SolanaSourceConfig = NodeSource & {
  family: 'solana'
  /** The genesis hash the nodes must report, where it is known. */
  genesisHash?: string
  /** Yellowstone gRPC endpoints that push blocks. */
  geyser: readonly Geyser[]
  /** `confirmed`: a block may still be dropped and is then retracted; `finalized`: never, but blocks come some seconds later. */
  commitment: 'confirmed' | 'finalized'
  /** Undefined: tokens are not checked again after their first appearance, and locks are not read. */
  risk?: CheckBudgetConfig
}

/** `url`: http or https, host and port alone. */
export type Geyser = { url: string; token?: string }

/** Of mainnet-beta (docs.anza.xyz, "Solana clusters"). */
const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'

const ADDRESS = ADDRESS_FORM.solana
const FORMS = { family: 'solana', pool: ADDRESS, token: ADDRESS, amms: SOLANA_AMMS } as const

export function solanaSource(chain: string, section: ChainSection, problems: string[]): SolanaSourceConfig {
  const genesisHash = section.genesis_hash ?? (chain === 'solana' ? MAINNET_GENESIS : undefined)
  const { geyser = [], commitment = 'confirmed' } = section
  if (!geyser.every((url) => isUrl(url, /^https?:$/)))
    problems.push(`each of "chains.${chain}.geyser" (--geyser) must be an http:// or https:// URL`)
  return {
    family: 'solana',
    ...nodeSource(chain, section, FORMS, problems),
    ...(genesisHash === undefined ? {} : { genesisHash }),
    geyser: geyser.filter((url) => URL.canParse(url)).map(geyserOf),
    commitment,
    ...(section.risk === 'off' ? {} : { risk: checkBudgetOf(section) }),
  }
}

/** The token is the URL's user, so that one URL holds everything, as for nodes. */
function geyserOf(text: string): Geyser {
  const url = new URL(text)
  const token = decodeURIComponent(url.username || url.password)
  url.username = ''
  url.password = ''
  return { url: url.href, ...(token === '' ? {} : { token }) }
}

export const describeSolanaSource = (source: SolanaSourceConfig): Record<string, unknown> => ({
  ...describeNodeSource(source),
  commitment: source.commitment,
  risk: source.risk === undefined ? 'off' : 'live',
  geyser: source.geyser.map(({ url }) => withoutSecrets(url, { path: false })),
})
