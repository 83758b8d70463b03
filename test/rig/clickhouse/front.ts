/**
 * Serves the HTTP interface of the embedded engine on a TCP port, in a process that can be killed. Exits when stdin closes.
 * `node dist/test/rig/clickhouse/front.js <port> <directory>`
 */
import { join } from 'node:path'
import { openSession } from '../../../services/core/store/embedded-engine.js'
import { serveEngine } from '../../../services/core/store/engine-socket.js'
import { proxyTo } from '../store-proxy.js'

const [port, directory] = process.argv.slice(2)
if (port === undefined || directory === undefined) throw new Error('front.js <port> <directory>')
process.stdin.resume().once('close', () => process.exit(0))

const enginePath = join(directory, 'store')
const socketPath = join(directory, 'engine.sock')
// Kept open, because the engine ends with its last session.
await openSession(enginePath)
await serveEngine(enginePath, socketPath)
const front = await proxyTo(new URL(`http://127.0.0.1:${port}`), { port: Number(port), to: { path: socketPath } })
process.stdout.write(`serves ${front.url} (pid ${process.pid})\n`)
