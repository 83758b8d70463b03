// Generated from schemas/avro by `npm run generate`; a test fails when it differs.

export * from './records/block-records.js'
export * from './records/dead-letter-records.js'
export * from './records/trade-records.js'
export * from './records/update-records.js'
