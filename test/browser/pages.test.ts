import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { chromiumPath } from '../rig/browser/chromium.js'
import { describeAccess } from './dashboard-access.js'
import { describeAlerts } from './dashboard-alerts.js'
import { describeLists } from './dashboard-lists.js'
import { describeMarket } from './dashboard-market.js'
import { describeSql } from './dashboard-sql.js'
import { describeViews } from './dashboard-views.js'
import { describeReference } from './reference-page.js'
import { openScene, type Scene } from './scene.js'

const BROWSER_MS = 11 * 60_000

const scene = {} as Scene
beforeAll(() => openScene(scene), BROWSER_MS)
afterAll(() => scene.close?.())
afterEach(() => scene.watched?.page.close())

describeViews(scene)
describeLists(scene)
describeSql(scene)
describeMarket(scene)
describeAlerts(scene)
describeAccess(scene)
describeReference(scene)

it('the browser in CHROMIUM_PATH is missing: fails, without trying another', () => {
  const env = { CHROMIUM_PATH: '/nowhere/chromium' }
  expect(() => chromiumPath(env)).toThrow('Chromium is missing: looked at /nowhere/chromium.')
})
