/** Finds Chromium, and where it may (root on Debian) installs it. Nothing here skips: without a browser the tests fail. */
import { execFile } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type BrowserContext, chromium } from 'playwright-core'

const KNOWN_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]
const INSTALL = 'apt-get update && apt-get install -y --no-install-recommends chromium'
const INSTALL_MS = 10 * 60_000
const LOCK = join(tmpdir(), 'dextape-chromium-install.lock')

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export type Browser = {
  context: BrowserContext
  close(): Promise<void>
}

/** A browser with a profile of its own that is gone with it. */
export async function openBrowser(viewport = { width: 1280, height: 800 }): Promise<Browser> {
  const executablePath = await chromiumPath()
  const profile = mkdtempSync(join(tmpdir(), 'dextape-chromium-'))
  const context = await chromium.launchPersistentContext(profile, { executablePath, args: FLAGS, viewport })
  return {
    context,
    close: async () => {
      await context.close()
      rmSync(profile, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

export async function chromiumPath(): Promise<string> {
  const named = process.env.CHROMIUM_PATH
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named
    throw new Error(`CHROMIUM_PATH names ${named}, which is not there.`)
  }
  const found = findChromium()
  if (found !== undefined) return found
  if (!mayInstall()) {
    throw new Error(
      'The browser tests need Chromium and there is none: looked at CHROMIUM_PATH and ' +
        `${KNOWN_PATHS.join(', ')}. It is installed by itself only as root on a Debian-like system. ` +
        `Install it (there: sudo sh -c '${INSTALL}') or set CHROMIUM_PATH to a browser you have.`,
    )
  }
  await withInstallLock(async () => {
    if (findChromium() === undefined) await installChromium()
  })
  const installed = findChromium()
  if (installed === undefined)
    throw new Error(`Chromium was installed (${INSTALL}) and is in none of its known places.`)
  return installed
}

function findChromium(): string | undefined {
  return KNOWN_PATHS.find((path) => existsSync(path))
}

function mayInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

async function installChromium(): Promise<void> {
  process.stderr.write(`The browser tests need Chromium: running ${INSTALL}\n`)
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    await promisify(execFile)('sh', ['-c', INSTALL], { env, timeout: INSTALL_MS, maxBuffer: 64 * 1024 * 1024 })
  } catch (cause) {
    const said = String((cause as { stderr?: unknown }).stderr ?? '').trim()
    throw new Error(`Chromium could not be installed. Run by hand: ${INSTALL}\n${said}`, { cause })
  }
}

/** Two test workers would both run apt, and the second would fail on its lock. */
async function withInstallLock(install: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + INSTALL_MS
  while (!takeLock()) {
    if (Date.now() > deadline) throw new Error(`Another process has been installing Chromium for too long: see ${LOCK}`)
    await sleep(500)
  }
  try {
    await install()
  } finally {
    rmSync(LOCK, { force: true })
  }
}

function takeLock(): boolean {
  try {
    const file = openSync(LOCK, 'wx')
    writeSync(file, String(process.pid))
    closeSync(file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (isLeftBehind()) rmSync(LOCK, { force: true })
    return false
  }
}

/** Its process is gone. A file that is still empty is being written. */
function isLeftBehind(): boolean {
  try {
    const pid = Number(readFileSync(LOCK, 'utf8'))
    if (pid === 0) return Date.now() - statSync(LOCK).mtimeMs > 5000
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
