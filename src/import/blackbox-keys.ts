import { type KnownKeys, NO_LOSS, noLossOf, unless } from './losses.ts'

const PROMETHEUS = 'This is a setting of Prometheus.'
const FILE = 'It is in a file on the exporter’s machine, which is not read.'
const DISCOVERY = 'Targets that Prometheus finds by itself are not imported.'
const RELABELLING = 'Relabelling is not imported: each target is probed as it is written.'

/** The relabelling that hands a target to the exporter, which its documentation prescribes. */
const handsOver = ({ source_labels: from, target_label: to, replacement }: Readonly<Record<string, unknown>>) =>
  (Array.isArray(from) && String(from) === '__address__' && to === '__param_target') ||
  (Array.isArray(from) && String(from) === '__param_target' && to === 'instance') ||
  (Array.isArray(from) && String(from) === 'module' && to === '__param_module') ||
  (from === undefined && to === '__address__' && replacement !== undefined)

/** What is known of the keys of the blackbox exporter and of Prometheus’ jobs. */
export const blackboxKeys: KnownKeys = {
  ...{ rule_files: PROMETHEUS, alerting: PROMETHEUS, remote_write: PROMETHEUS, remote_read: PROMETHEUS },
  ...{
    storage: PROMETHEUS,
    tracing: PROMETHEUS,
    runtime: PROMETHEUS,
    scrape_config_files: PROMETHEUS,
    otlp: PROMETHEUS,
  },
  'global.*': PROMETHEUS,
  // The values of the job count, and of the module if it is shorter.
  ...noLossOf(['scrape_interval', 'scrape_timeout'], 'global'),
  relabel_configs: (value) =>
    Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null && handsOver(each))
      ? NO_LOSS
      : RELABELLING,
  ...noLossOf(['source_labels', 'target_label', 'replacement'], 'relabel_configs'),
  metric_relabel_configs: RELABELLING,
  labels: 'Labels are not imported.',
  'labels.*': 'Labels are not imported.',
  ...{
    file_sd_configs: DISCOVERY,
    http_sd_configs: DISCOVERY,
    dns_sd_configs: DISCOVERY,
    consul_sd_configs: DISCOVERY,
  },
  ...{ kubernetes_sd_configs: DISCOVERY, docker_sd_configs: DISCOVERY, ec2_sd_configs: DISCOVERY },
  ...noLossOf(['scheme', 'honor_labels', 'honor_timestamps'], 'scrape_configs'),
  preferred_ip_protocol: NO_LOSS,
  ip_protocol_fallback: unless('It is probed over any IP version here.', true),
  source_ip_address: 'Its source address is not imported.',
  ...{ password_file: FILE, username_file: FILE, credentials_file: FILE, client_secret_file: FILE, body_file: FILE },
  ...{ bearer_token_file: FILE, ca_file: FILE, cert_file: FILE, key_file: FILE },
  ...{ enable_http2: NO_LOSS, enable_http3: unless('HTTP/3 is not supported.', false), compression: NO_LOSS },
  valid_http_versions: 'Any version of HTTP counts as up.',
  fail_if_ssl: unless('TLS is not an error here.', false),
  fail_if_not_ssl: unless('It is probed as its address says, with or without TLS.', false),
  fail_if_body_json_matches_cel: 'Expressions on JSON (CEL) are not imported.',
  fail_if_body_json_not_matches_cel: 'Expressions on JSON (CEL) are not imported.',
  server_name: 'The name in the certificate is that of the target here.',
  recursion_desired: unless('Queries here ask for recursion.', true),
  transport_protocol: unless('DNS is queried over UDP here, and over TCP if the answer is long.', 'udp'),
  validate_authority_rrs: 'Only the answer section is compared.',
  validate_additional_rrs: 'Only the answer section is compared.',
  dont_fragment: unless('Packets may be fragmented here.', false),
  ttl: 'The TTL of packets is not imported.',
}
