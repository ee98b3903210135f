import { alerts } from './alerts.ts'
import { bodies } from './bodies.ts'
import type { HostileCase } from './case.ts'
import { configurations } from './configurations.ts'
import { consoleForms } from './console.ts'
import { documents } from './documents.ts'
import { domains } from './domains.ts'
import { files } from './files.ts'
import { forms } from './forms.ts'
import { guides } from './guides.ts'
import { imports } from './imports.ts'
import { incidentWork } from './incident-work.ts'
import { inputs } from './inputs.ts'
import { mutations } from './mutations.ts'
import { names } from './names.ts'
import { pages } from './pages.ts'
import { probes } from './probes.ts'
import { providers } from './providers.ts'
import { reports } from './reports.ts'
import { servers } from './servers.ts'
import { severalPages } from './several-pages.ts'
import { sockets } from './sockets.ts'
import { streams } from './streams.ts'

/**
 * Everything that one caller could send to harm others. If you add an endpoint, add attacks on it: a line in one of
 * these files, or a new file. Mutations have some by themselves, and `npm run fuzz` finds fields, forms and paths. The bodies come last: they import thousands of subscribers, to whom the service would
 * deliver everything that later cases announce.
 */
export const corpus: readonly HostileCase[] = [
  ...[documents, inputs, sockets, streams, consoleForms, forms, imports, configurations, severalPages, alerts, files],
  ...[providers, pages, reports, incidentWork, guides, probes, servers, names, domains, mutations, bodies],
].flat()
