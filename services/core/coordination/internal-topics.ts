/** The topics in which the processes of a cluster share what is neither block nor update: internal, compacted, JSON. */

/** API keys as hashes, revocations, and what keys spent. */
export const KEYS_TOPIC = 'dex.keys'
/** Where each source goes on, and where the blocks come from. */
export const SOURCES_TOPIC = 'dex.sources'
/** Which generation of a chain's history is live, and which is being written. */
export const GENERATIONS_TOPIC = 'dex.generations'
/** What each running ingest and aggregate says of itself. */
export const STATUS_TOPIC = 'dex.status'
