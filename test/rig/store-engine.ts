/** Where npm has no native part for the CPU, a server stands in (CLICKHOUSE_URL). Anywhere else a missing part is a failure. */
const installed = await import('chdb/connection').then(
  () => true,
  () => false,
)

export const engineExpected = installed || process.env.CLICKHOUSE_URL === undefined
