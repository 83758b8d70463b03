/** Prometheus itself accepts the rules, and each alert fires by its cause and is quiet before. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { promtool } from '../rig/prometheus/programs.js'

const folder = join(repositoryRoot(), 'infra/prometheus')

it.each([
  ['check', 'config', 'prometheus.yml'],
  ['check', 'rules', 'alerts.yml'],
  ['test', 'rules', 'alerts.test.yml'],
])('promtool %s %s %s', { timeout: 120_000 }, (...args) => {
  const { status, stdout, stderr } = spawnSync(promtool(), args, { cwd: folder, encoding: 'utf8' })
  expect([status, stdout, stderr]).toEqual([0, expect.stringContaining('SUCCESS'), ''])
})
