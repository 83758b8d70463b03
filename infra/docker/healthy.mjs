// Health check of a container: `node healthy.mjs URL` exits with 0 if the URL answers with a 2xx status.
const ANSWER_WITHIN_MS = 3_000

const answer = await fetch(process.argv[2], { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).catch(() => undefined)
process.exit(answer?.ok ? 0 : 1)
