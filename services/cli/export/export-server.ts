/** The running server as a source of files. */
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text as readText } from 'node:stream/consumers'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import type { Partition } from '../../serve/export/export-query.js'
import type { ExportRequest } from '../../serve/export/export-service.js'
import { unreachable } from '../rest-client.js'

export interface ExportServer {
  /** `asOf`: the seq of each chain that the file includes. */
  open(asked: ExportRequest): Promise<{ body: IncomingMessage; asOf: string }>
  partitions(asked: ExportRequest): Promise<Partition[]>
}

export function connectToServer(url: string, key: string, signal: AbortSignal): ExportServer {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new ConfigError({ code: 'option_invalid', what: `--url is not valid: ${url}`, expected: 'http://host:port' })

  /** Not `fetch`, which gives up after five minutes without an answer: an export may wait for others. */
  function post(path: string, asked: ExportRequest): Promise<IncomingMessage> {
    const target = new URL(path, url)
    const request = target.protocol === 'https:' ? httpsRequest : httpRequest
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    return new Promise((resolve, reject) => {
      const sent = request(target, { method: 'POST', headers, signal, agent: false }, resolve)
      sent.on('error', (cause) => reject(unreachable(url, cause)))
      sent.end(JSON.stringify(asked))
    })
  }

  async function ask(path: string, asked: ExportRequest): Promise<IncomingMessage> {
    const answer = await post(path, asked)
    if (answer.statusCode === 200) return answer
    const { detail, code } = readProblem(await readText(answer))
    throw new DextapeError({ code: code ?? 'refused', what: detail ?? `The server answered ${answer.statusCode}` })
  }

  return {
    async open(asked) {
      const body = await ask('/v2/export', asked)
      return { body, asOf: String(body.headers['x-as-of'] ?? '') }
    },
    async partitions(asked) {
      const text = await readText(await ask('/v2/export/partitions', asked))
      const answer = JSON.parse(text) as { partitions?: Partition[]; data?: { partitions: Partition[] } }
      return answer.partitions ?? answer.data?.partitions ?? []
    },
  }
}

function readProblem(text: string): { detail?: string; code?: string } {
  try {
    return JSON.parse(text) as { detail?: string; code?: string }
  } catch {
    return {}
  }
}
