export { isChainName } from './chain-facts.js'
export type { ChainSourceConfig } from './chain-sources.js'
export { type ChainStart, readStart } from './chain-start.js'
export {
  type Config,
  chainFacts,
  describeConfig,
  type KafkaChoice,
  type LogChoice,
  type StoreChoice,
  withoutSecrets,
} from './config.js'
export { DATA_DIR_VERSION, type DataDir, findDataDir, isDataDir, openDataDir } from './data-dir.js'
export { ENVIRONMENT, type Environment } from './environment.js'
export type { EvmSourceConfig } from './evm-source.js'
export type { ChainSection } from './file-schema.js'
export { hashKey, isPlan, type KeyRecord, type KeyStore, monthOf, openKeyStore, PLANS, type Plan } from './keys.js'
export { HTTP_PORTS, type LoadOptions, loadConfig } from './load.js'
export { type DirLock, isRunning, lockBackfill, lockDataDir, lockHolder } from './lock.js'
export { nearestWord } from './nearest.js'
export type { BalancesMode, ChainScope, Finality } from './node-source.js'
export { type Claim, claimOf, claimOrigin, mixed, type Origin, originOf } from './origin.js'
export { readWsTokenSecret } from './private-files.js'
export type { SolanaSourceConfig } from './solana-source.js'
