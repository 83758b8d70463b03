/** A ClickHouse behind HTTPS that demands a user: with the right one queries run, with another the reason is plain. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkStore } from '../../../services/cli/doctor/checks.js'
import { withUser } from '../../../services/core/config/secrets.js'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { STORE_AUTHORITY, STORE_USER, startSecureFront } from '../../rig/clickhouse/secure-front.js'

let front: Awaited<ReturnType<typeof startSecureFront>>
beforeAll(async () => {
  front = await startSecureFront()
})
afterAll(() => front.close())

const TLS = { ca: STORE_AUTHORITY }
const urlOf = (password: string) => withUser(front.url, STORE_USER.user, password)

it('runs statements with the user, its password and its authority', async () => {
  const store = await openStore({ kind: 'server', url: urlOf(STORE_USER.password), tls: TLS })
  await store.command('SELECT 1')
  await store.close()
  const found = await checkStore({ url: urlOf(STORE_USER.password), tls: TLS })
  expect(found).toMatchObject({ level: 'ok', what: expect.stringContaining('responds') })
})

it('says that the credentials are wrong, without them', async () => {
  const store = await openStore({ kind: 'server', url: urlOf('hunter2'), tls: TLS })
  const error = (await store.command('SELECT 1').catch((thrown: unknown) => thrown)) as Error
  expect(error.message).toMatch(/credentials|denied|refused/i)
  expect(error.message).not.toContain('hunter2')
  await store.close()
  const found = await checkStore({ url: urlOf('hunter2'), tls: TLS })
  expect(found).toMatchObject({ level: 'fail', what: expect.stringContaining('403') })
})

it('is unreachable for whoever does not know its authority', async () => {
  const found = await checkStore({ url: urlOf(STORE_USER.password) })
  expect(found).toMatchObject({ level: 'fail', what: expect.stringContaining('is not reachable') })
})
