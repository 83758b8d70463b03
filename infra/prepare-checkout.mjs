// Runs after `npm install` and `npm ci` in a checkout, not where the package is installed. Builds, and links the command into
// node_modules/.bin, as the scripts of npm find it.
import { execSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../services/cli/dextape.js', import.meta.url))
const link = fileURLToPath(new URL('../node_modules/.bin/dextape', import.meta.url))

// npm also runs `prepare` when it packs, where `prepack` has built what ships, without the tools of the tests; and at the first
// `npx dextape` in a checkout, which links the checkout into npm's cache: a build would take 20 s, and stopped meanwhile npm leaves
// a folder there that fails every later call.
if (!['pack', 'publish', 'exec'].includes(process.env.npm_command)) {
  execSync('npm run --silent build', { stdio: 'inherit' })
  if (process.platform !== 'win32') linkCommand()
}

function linkCommand() {
  chmodSync(command, 0o755)
  mkdirSync(fileURLToPath(new URL('../node_modules/.bin', import.meta.url)), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync('../../services/cli/dextape.js', link)
}
