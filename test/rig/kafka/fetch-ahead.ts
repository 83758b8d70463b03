/**
 * Before the first test: fetching the broker and the schema registry takes minutes, once, which no test's time limit has room for.
 * Where it fails, the tests that need them fail and say why.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import { install } from '../registry/apicurio.js'
import { dockerAnswers } from '../servers/container.js'

export default async function fetchAhead(): Promise<void> {
  if (await dockerAnswers()) return
  await install().catch(() => {})
  const broker = join(repositoryRoot(), 'infra/kafka/broker.mjs')
  await once(spawn(process.execPath, [broker, 'fetch'], { stdio: ['ignore', 'ignore', 'inherit'] }), 'close')
}
