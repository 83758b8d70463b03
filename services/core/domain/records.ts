// Generated from schemas/avro by `npm run generate`; a test fails when it differs.

export * from './records/blocks.js'
export * from './records/dead-letters.js'
export * from './records/trades.js'
export * from './records/updates.js'
