import { afterEach, expect, it, vi } from 'vitest'
import { chromiumPath } from '../rig/browser/chromium.js'

afterEach(() => vi.unstubAllEnvs())

it('a browser that was named and is not there is an error, not another browser', async () => {
  vi.stubEnv('CHROMIUM_PATH', '/nowhere/chromium')
  await expect(chromiumPath()).rejects.toThrow('CHROMIUM_PATH names /nowhere/chromium, which is not there.')
})
