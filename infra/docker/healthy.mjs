// A container's health check: `node healthy.mjs URL` ends with 0 where the address answers with success.
const ANSWER_WITHIN_MS = 3_000

const answer = await fetch(process.argv[2], { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).catch(() => undefined)
process.exit(answer?.ok ? 0 : 1)
