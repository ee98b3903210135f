import type { oas31, ZodOpenApiPathsObject } from 'zod-openapi'
import { createDocument } from 'zod-openapi'
import { geoAttribution } from '../blacklist/geo/geo.ts'
import { packageVersion } from '../core/process/package-version.ts'

/** Returns the OpenAPI 3.1 description of the paths, generated from the schemas that validate them. */
export function openApiDocument(baseUrl: string, paths: ZodOpenApiPathsObject): oas31.OpenAPIObject {
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Allclear',
      version: packageVersion,
      description: `DNS blacklist checks for IP addresses and domains, heartbeats of watched jobs, billing, and every page and document. Everything else is at /graphql.\n\n${geoAttribution}.`,
    },
    servers: [{ url: baseUrl }],
    tags: [
      { name: 'Blacklist checks', description: 'Whether an IP address or a domain is on a DNS blacklist.' },
      { name: 'Heartbeats', description: 'Reports from watched jobs.' },
      { name: 'Integrations', description: 'Alerts of other tools.' },
      { name: 'Incidents', description: 'Files of incidents.' },
      { name: 'Billing', description: 'Tiers of status pages and their payment.' },
      { name: 'Pages', description: 'Pages for browsers.' },
      {
        name: 'Status page documents',
        description: 'Status pages for programs: JSON, feeds, calendars, badges.',
      },
      { name: 'Operation', description: 'Health, metrics, files.' },
    ],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key: Authorization: Bearer ac_….' },
        header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
  })
}
