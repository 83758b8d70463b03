#!/usr/bin/env -S node --max-semi-space-size=64
// The flag: folding makes many short-lived objects, and with V8's default of 16 MB a third of the time goes to collecting them.
// The command as installed: plain JavaScript, so that a checkout without a build can say what is missing.
import { existsSync } from 'node:fs'

// The embedded engine's sessions run on this pool; the default of four would be full with them alone.
process.env.UV_THREADPOOL_SIZE ??= '8'

const main = new URL('../../dist/services/cli/main.js', import.meta.url)
if (existsSync(main)) {
  await import(main.href)
} else {
  process.stderr.write('dextape: this checkout is not built yet. Run `npm install && npm run build` in it first.\n')
  process.exitCode = 1
}
