/** An organization of a benched service, with a function that runs operations with its key. */
export interface BenchOrganization {
  readonly slug: string
  /**
   * Runs one operation and returns its only field.
   * @throws the service's errors when it fails.
   */
  run(query: string): Promise<Record<string, unknown>>
}

/** Creates an organization with so many services, and an open incident, whose id it returns too. */
export async function newOrganization(
  port: number,
  services: number,
): Promise<BenchOrganization & { readonly incidentId: string }> {
  const slug = `bench-${services}-${Date.now().toString(36)}`
  const send = async (key: string, query: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query }),
    })
    const { data } = (await response.json()) as { readonly data?: Record<string, Record<string, unknown>> }
    const [value] = Object.values(data ?? {})
    if (value === undefined || 'code' in value) throw new Error(JSON.stringify(value ?? response.status))
    return value
  }
  const created = await send(
    'token-of-the-bench',
    `mutation { createOrganization(input: { name: "Bench", slug: "${slug}", contactEmail: "ops@acme.example" }) {
      ... on CreateOrganizationPayload { apiKey { secret } } ... on Error { code message } } }`,
  )
  const { secret } = created['apiKey'] as { readonly secret: string }
  const run = (query: string) => send(secret, query)
  for (let number = 0; number < services; number++) {
    await run(
      `mutation { createService(input: { name: "Service ${number}" }) { ... on Service { id } ... on Error { code message } } }`,
    )
  }
  const incident = await run(
    `mutation { createIncident(input: { title: "Elevated error rates", status: INVESTIGATING, impact: MAJOR, message: "We look into it." }) {
      ... on Incident { id } ... on Error { code message } } }`,
  )
  return { slug, run, incidentId: String(incident['id']) }
}

/** A mutation that posts an incident update. */
export const updateOf = (incidentId: string, message: string) =>
  `mutation { postIncidentUpdate(input: { incidentId: "${incidentId}", status: MONITORING, message: "${message}" }) {
    ... on IncidentUpdate { id } ... on Error { code message } } }`
