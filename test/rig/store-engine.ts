/** If npm has no native package for the CPU, CLICKHOUSE_URL is used instead. Otherwise a missing package is a failure. */
const installed = await import('chdb/connection').then(
  () => true,
  () => false,
)

export const engineExpected = installed || process.env.CLICKHOUSE_URL === undefined
