/** The browser for the page tests. `npm test` installs it or reports what is missing (rig/suite/needs.ts). */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'
import { chromiumCandidates } from '../suite/needs.js'

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

export function chromiumPath(env: NodeJS.ProcessEnv = process.env): string {
  const candidates = chromiumCandidates(env)
  const found = candidates.find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new Error(`Chromium is missing: looked at ${candidates.join(', ')}. npm test installs it or says how.`)
}
