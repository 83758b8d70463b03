/**
 * Before the first test: fetching the broker takes two minutes, once, which no test's time limit has room for. Where it fails, the
 * tests that need a broker fail and say why.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import { dockerAnswers } from '../servers/container.js'

export default async function fetchAhead(): Promise<void> {
  if (await dockerAnswers()) return
  const broker = join(repositoryRoot(), 'infra/kafka/broker.mjs')
  await once(spawn(process.execPath, [broker, 'fetch'], { stdio: ['ignore', 'ignore', 'inherit'] }), 'close')
}
