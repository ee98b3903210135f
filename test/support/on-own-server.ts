/**
 * Runs the tests with its arguments on a PostgreSQL server that is created for them: `npm run test:server -- --project
 * database`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { clusterMissing, startCluster } from './postgres-cluster.ts'

if (clusterMissing !== null) throw new Error(`The tests need a PostgreSQL server: ${clusterMissing}.`)
const cluster = await startCluster()
const env = { ...process.env, TEST_DATABASE_URL: cluster.url }
const tests = spawn('npm', ['test', '--', ...process.argv.slice(2)], { env, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
const [code] = await once(tests, 'exit')
await cluster.close()
process.exitCode = code ?? 1
