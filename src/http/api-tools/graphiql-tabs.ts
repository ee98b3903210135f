/** A tab that GraphiQL opens on a reader's first visit; its title is the operation's name. */
export interface Tab {
  readonly query: string
  /** JSON. */
  readonly variables?: string
  /** JSON. */
  readonly headers?: string
}

/** Operations that require a key get a placeholder for one. */
const withKey = JSON.stringify({ authorization: 'Bearer YOUR_API_KEY' }, null, 2)

/** Examples of the most frequent uses of the API, in the order in which a new user would try them. */
export const tabs: readonly Tab[] = [
  {
    query: `# Check an address on six DNS blacklists: press the play button.
# 127.0.0.2 is the test entry that every list holds.
query Check {
  checkIp(target: "127.0.0.2") {
    ... on IpReport {
      verdict
      listedCount
      totalChecked
      geo { country city isp asn }
      results { name listed policy response error delistUrl }
    }
    ... on Error { code message }
  }
}

# The same, each list's answer as it arrives.
subscription WatchCheck {
  checkProgress(target: "example.com") {
    ... on ListAnswered { target result { name listed error } }
    ... on AddressesResolved { addresses }
    ... on DomainReport { verdict }
    ... on Error { code message }
  }
}
`,
  },
  {
    query: `# A public status page. Set its slug in the variables below.
query StatusPage($slug: String!) {
  statusPage(slug: $slug) {
    name
    status { indicator description }
    services { name status }
    cursor
  }
}

# Its events from now on. Pass the page's cursor as \`after\` to miss none in between.
subscription FollowStatusPage($slug: String!) {
  statusPageEvents(slug: $slug) {
    at
    kind
    cursor
    incident { title status }
    service { name status }
  }
}
`,
    variables: JSON.stringify({ slug: 'your-slug' }, null, 2),
  },
  {
    query: `# Creates an organization with its status page, and returns its first API key. It is shown only once.
# Requires the operator's token in the headers, unless sign-up is open (SIGNUP=open).
mutation CreateOrganization {
  createOrganization(input: { name: "Example", slug: "your-slug", contactEmail: "you@example.com" }) {
    ... on CreateOrganizationPayload {
      organization { id slug }
      apiKey { secret }
    }
    ... on Error { code message }
    ... on ValidationError { issues { path message } }
  }
}
`,
    headers: JSON.stringify({ authorization: 'Bearer OPERATOR_TOKEN' }, null, 2),
  },
  {
    query: `# Watches a website every minute, as a service of the status page.
mutation CreateMonitor {
  createMonitor(
    input: {
      name: "Website"
      intervalSeconds: 60
      timeoutMs: 5000
      probe: { http: { url: "https://example.com/", method: GET, expectedStatus: ["200-299"] } }
    }
  ) {
    ... on Monitor { id name state }
    ... on Error { code message }
    ... on ValidationError { issues { path message } }
  }
}
`,
    headers: withKey,
  },
  {
    query: `# Opens an incident on the status page, and notifies its subscribers.
mutation CreateIncident {
  createIncident(
    input: {
      title: "Slow answers"
      status: INVESTIGATING
      impact: MINOR
      message: "We are looking into it."
      services: []
    }
  ) {
    ... on Incident { id title status }
    ... on Error { code message }
    ... on ValidationError { issues { path message } }
  }
}
`,
    headers: withKey,
  },
  {
    query: `# Searches incidents by a word, a period (including its start, excluding its end) and an impact, oldest first.
query SearchIncidents {
  organization {
    incidents(
      filter: {
        text: "certificate"
        startedAfter: "2026-01-01T00:00:00Z"
        startedBefore: "2027-01-01T00:00:00Z"
        impact: [MAJOR, CRITICAL]
      }
      orderBy: { field: STARTED_AT, direction: ASC }
    ) {
      totalCount
      nodes { id title status startedAt }
      pageInfo { hasNextPage endCursor }
    }
  }
}
`,
    headers: withKey,
  },
]
