import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

// Bundles the service as `npm start` does it, if its sources have changed.
await promisify(execFile)(process.execPath, ['src/build.js'])
