/** The browser for the page tests. `npm test` installs it or reports what is missing (rig/suite/needs.ts). */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** A browser with a temporary profile. */
export async function openBrowser(viewport = { width: 1280, height: 800 }): Promise<Browser> {
  const executablePath = chromiumPath()
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

/** Only CHROMIUM_PATH if it is set, else the usual paths. */
export function chromiumCandidates({ CHROMIUM_PATH: named = '' }: NodeJS.ProcessEnv): readonly string[] {
  return named === '' ? KNOWN_PATHS : [named]
}

export function chromiumPath(env: NodeJS.ProcessEnv = process.env): string {
  const candidates = chromiumCandidates(env)
  const found = candidates.find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new Error(`Chromium is missing: looked at ${candidates.join(', ')}. npm test installs it or says how.`)
}
