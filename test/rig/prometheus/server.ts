/**
 * A Prometheus that scrapes what a test starts, with the alert rules of infra/prometheus. Their durations are
 * shorter: by default ten minutes are ten seconds. The rules with their own durations are tested by promtool (alerts.test.yml).
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { repositoryRoot } from '../../../schemas/avro.js'
import { steadyPort } from '../servers/steady-port.js'
import { prometheus } from './programs.js'

export type Target = {
  /** `http://127.0.0.1:8080` */
  url: string
  /** As `5s`: a process that is busy or frozen for a while must not count as down. */
  scrapeEvery?: string
}

export type AlertWatch = {
  /** Scrapes it from now on, and resolves once it was. */
  scrape(target: Target): Promise<void>
  forget(target: Target): void
  /** Waits until the alert is quiet, then for it after its cause; of this target, where its rule keeps the instance. */
  fires(alert: string, at: Target | undefined, cause?: () => Promise<unknown> | unknown): Promise<void>
  stop(): Promise<void>
}

type Alert = { state: string; labels: { alertname: string; instance?: string }; annotations: { summary: string } }

const SECONDS = { m: 60, h: 3600 } as const
const GIVE_UP_MS = 240_000
const POLL_MS = 250

/** `shorter`: how many times. */
export async function watchAlerts({ shorter = 60 } = {}): Promise<AlertWatch> {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-prometheus-'))
  const rules = readFileSync(join(repositoryRoot(), 'infra/prometheus/alerts.yml'), 'utf8')
  writeFileSync(join(folder, 'alerts.yml'), shortened(rules, shorter))
  writeFileSync(join(folder, 'prometheus.yml'), SETTINGS)
  const targets = new Set<Target>()
  writeTargets(folder, targets)
  const address = `127.0.0.1:${await steadyPort()}`
  const child = spawn(
    prometheus(),
    [
      ...['--config.file=prometheus.yml', '--storage.tsdb.path=data', '--log.level=warn'],
      `--web.listen-address=${address}`,
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))

  async function ask<T>(path: string): Promise<T> {
    const response = await fetch(`http://${address}/api/v1/${path}`)
    return ((await response.json()) as { data: T }).data
  }

  async function until(what: string, check: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + GIVE_UP_MS
    while (!(await check().catch(() => false))) {
      if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}`)
      if (Date.now() > deadline) throw new Error(`not within ${GIVE_UP_MS} ms: ${what}; ${await story()}`)
      await sleep(POLL_MS)
    }
  }

  const alerts = async () => (await ask<{ alerts: Alert[] }>('alerts')).alerts
  const story = async () =>
    (await alerts()).map(({ state, labels }) => `${labels.alertname} ${state} ${JSON.stringify(labels)}`).join('\n')
  const isFiring = async (name: string, at: Target | undefined) =>
    (await alerts()).some(
      ({ state, labels: { alertname, instance } }) =>
        state === 'firing' && alertname === name && (at === undefined || instance === new URL(at.url).host),
    )

  await until('Prometheus answers', async () => (await fetch(`http://${address}/-/ready`)).ok)
  return {
    async scrape(target) {
      targets.add(target)
      writeTargets(folder, targets)
      const query = encodeURIComponent(`up{instance="${new URL(target.url).host}"} == 1`)
      await until(`${target.url} is scraped`, async () => {
        return (await ask<{ result: object[] }>(`query?query=${query}`)).result.length === 1
      })
    },
    forget(target) {
      targets.delete(target)
      writeTargets(folder, targets)
    },
    async fires(alert, at, cause) {
      if (cause !== undefined) await until(`${alert} is quiet`, async () => !(await isFiring(alert, at)))
      await cause?.()
      await until(`${alert} fires`, () => isFiring(alert, at))
    },
    async stop() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Of ranges, offsets and waits; and the two that are numbers of seconds in an expression. */
function shortened(rules: string, times: number): string {
  return rules
    .replace(/(\[|offset |for: )(\d+)([mh])/g, (_, before: string, count: string, unit: 'm' | 'h') => {
      return `${before}${(Number(count) * SECONDS[unit]) / times}s`
    })
    .replace('published_timestamp_seconds > 180', `published_timestamp_seconds > ${180 / times}`)
    .replace('], 86400)', `], ${86_400 / times})`)
}

/** `__…__` are labels by which a target changes how it is scraped. */
const SETTINGS = `
global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 500ms }
rule_files: [alerts.yml]
scrape_configs:
  - job_name: dextape
    tls_config: { insecure_skip_verify: true }
    file_sd_configs: [{ files: [targets.json], refresh_interval: 1s }]
`

function writeTargets(folder: string, targets: ReadonlySet<Target>): void {
  const entries = [...targets].map(({ url, scrapeEvery: every }) => {
    const { host, protocol } = new URL(url)
    const slow = every === undefined ? {} : { __scrape_interval__: every, __scrape_timeout__: every }
    return { targets: [host], labels: { __scheme__: protocol.slice(0, -1), ...slow } }
  })
  // Replaced in one step: Prometheus reads it at any time.
  const file = join(folder, 'targets.json')
  writeFileSync(`${file}.new`, JSON.stringify(entries))
  renameSync(`${file}.new`, file)
}
