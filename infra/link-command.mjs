// Puts the command where `npx dextape` looks first, so that npx need not install the checkout into its cache.
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../services/cli/dextape.js', import.meta.url))
const link = fileURLToPath(new URL('../node_modules/.bin/dextape', import.meta.url))
if (process.platform !== 'win32') {
  chmodSync(command, 0o755)
  mkdirSync(fileURLToPath(new URL('../node_modules/.bin', import.meta.url)), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync('../../services/cli/dextape.js', link)
}
