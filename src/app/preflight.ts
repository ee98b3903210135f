import { createServer } from 'node:net'
import { assertMmdb } from '../blacklist/geo/mmdb.ts'
import type { Config } from '../core/config.ts'
import { StartError } from '../core/errors.ts'
import { requireSender } from '../notification/channel/mailer.ts'

/**
 * Checks that valid settings work on this machine, before anything is opened.
 * @throws StartError with the name of the setting and the problem.
 */
export async function checkStartable(config: Config): Promise<void> {
  const { HOST, PORT, METRICS_PORT, MAIL_FROM, GEO_CITY_DB, GEO_ASN_DB } = config
  if (MAIL_FROM !== undefined) requireSender(MAIL_FROM)
  for (const [name, file] of Object.entries({ GEO_CITY_DB, GEO_ASN_DB })) {
    if (file !== undefined) await assertMmdb(name, file)
  }
  await requireListenable('PORT', HOST, PORT)
  if (METRICS_PORT !== undefined) await requireListenable('METRICS_PORT', HOST, METRICS_PORT)
}

/** Listens for a moment: only the operating system knows which addresses and ports are available. */
function requireListenable(setting: 'PORT' | 'METRICS_PORT', host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const name =
        cause.code === 'EADDRINUSE' || cause.code === 'EACCES'
          ? `${setting} is ${port}`
          : `HOST is ${JSON.stringify(host)}`
      const expected = cause.code === 'EADDRINUSE' ? 'a free port' : 'a port and an address of this machine'
      reject(
        new StartError(
          `${name}, but must be ${expected}. Cannot listen on port ${port} of ${host}: ${cause.message}.`,
          {
            cause,
          },
        ),
      )
    })
    server.listen(port, host, () => server.close(() => resolve()))
  })
}
