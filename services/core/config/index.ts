export { isChainName } from './chain-facts.js'
export type { ChainSourceConfig } from './chain-sources.js'
export {
  type Config,
  chainFacts,
  describeConfig,
  type KafkaChoice,
  type LogChoice,
  type StoreChoice,
  withoutSecrets,
} from './config.js'
export { ENVIRONMENT, type Environment } from './environment.js'
export type { EvmSourceConfig } from './evm-source.js'
export type { ChainSection } from './file-schema.js'
export { HTTP_PORTS, type LoadOptions, loadConfig } from './load-config.js'
export { nearestName } from './nearest-name.js'
export type { BalancesMode, ChainScope, Finality } from './node-source.js'
export { type ChainStart, readStart } from './node-source.js'
export { describePlan } from './plan-settings.js'
export type { ClientTls, SaslChoice } from './secrets.js'
export type { SolanaSourceConfig } from './solana-source.js'
