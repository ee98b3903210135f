import { createRequire } from 'node:module'

const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm')

/** The tables of version 1, with the relevant columns (db/kuma.db and db/patch-*.sql of its repository). */
export const uptimeKuma1 = `
  CREATE TABLE monitor (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name VARCHAR(150), active BOOLEAN DEFAULT 1 NOT NULL,
    user_id INTEGER, interval INTEGER DEFAULT 20 NOT NULL, url TEXT, type VARCHAR(20), weight INTEGER DEFAULT 2000,
    hostname VARCHAR(255), port INTEGER, created_date DATETIME, keyword VARCHAR(255), maxretries INTEGER NOT NULL DEFAULT 0,
    ignore_tls BOOLEAN DEFAULT 0 NOT NULL, upside_down BOOLEAN DEFAULT 0 NOT NULL, maxredirects INTEGER DEFAULT 10 NOT NULL,
    accepted_statuscodes_json TEXT DEFAULT '["200-299"]' NOT NULL, dns_resolve_type VARCHAR(5), dns_resolve_server VARCHAR(255),
    retry_interval INTEGER DEFAULT 0, push_token VARCHAR(20), method TEXT DEFAULT 'GET' NOT NULL, body TEXT, headers TEXT,
    basic_auth_user TEXT, basic_auth_pass TEXT, proxy_id INTEGER, auth_method VARCHAR(250), http_body_encoding VARCHAR(25),
    description TEXT, parent INTEGER, invert_keyword BOOLEAN DEFAULT 0 NOT NULL, json_path TEXT, expected_value VARCHAR(255),
    timeout DOUBLE DEFAULT 0 NOT NULL);
  CREATE TABLE notification (id INTEGER PRIMARY KEY, name TEXT, active BOOLEAN, is_default BOOLEAN, config TEXT);
  CREATE TABLE monitor_notification (id INTEGER PRIMARY KEY, monitor_id INTEGER, notification_id INTEGER);
  CREATE TABLE status_page (id INTEGER PRIMARY KEY, slug TEXT, title TEXT, description TEXT, published BOOLEAN DEFAULT 1,
    password TEXT, custom_css TEXT);
  CREATE TABLE status_page_cname (id INTEGER PRIMARY KEY, status_page_id INTEGER, domain TEXT);
  CREATE TABLE "group" (id INTEGER PRIMARY KEY, name TEXT, public BOOLEAN, active BOOLEAN, weight INTEGER, status_page_id INTEGER);
  CREATE TABLE monitor_group (id INTEGER PRIMARY KEY, monitor_id INTEGER, group_id INTEGER, weight INTEGER, send_url BOOLEAN);
  CREATE TABLE maintenance (id INTEGER PRIMARY KEY, title TEXT, description TEXT, active BOOLEAN, strategy TEXT);
  CREATE TABLE heartbeat (id INTEGER PRIMARY KEY, important BOOLEAN, monitor_id INTEGER, status SMALLINT, time DATETIME);`

/** What version 2 adds (db/knex_migrations). */
export const uptimeKuma2 = `
  ALTER TABLE monitor ADD COLUMN json_path_operator VARCHAR(255);
  CREATE TABLE stat_daily (id INTEGER PRIMARY KEY, monitor_id INTEGER, timestamp INTEGER, ping FLOAT, up SMALLINT, down SMALLINT,
    extras TEXT);`

/** The tables and columns of maintenance and incidents, of either version. */
export const uptimeKumaPast = `
  ALTER TABLE maintenance ADD COLUMN start_date DATETIME; ALTER TABLE maintenance ADD COLUMN end_date DATETIME;
  ALTER TABLE maintenance ADD COLUMN start_time TIME; ALTER TABLE maintenance ADD COLUMN end_time TIME;
  ALTER TABLE maintenance ADD COLUMN weekdays TEXT; ALTER TABLE maintenance ADD COLUMN days_of_month TEXT;
  ALTER TABLE maintenance ADD COLUMN interval_day INTEGER; ALTER TABLE maintenance ADD COLUMN cron TEXT;
  ALTER TABLE maintenance ADD COLUMN timezone TEXT; ALTER TABLE maintenance ADD COLUMN duration INTEGER;
  CREATE TABLE monitor_maintenance (id INTEGER PRIMARY KEY, monitor_id INTEGER, maintenance_id INTEGER);
  CREATE TABLE maintenance_status_page (id INTEGER PRIMARY KEY, status_page_id INTEGER, maintenance_id INTEGER);
  CREATE TABLE incident (id INTEGER PRIMARY KEY, title TEXT, content TEXT, style TEXT, created_date DATETIME, last_updated_date DATETIME,
    pin BOOLEAN, active BOOLEAN, status_page_id INTEGER);
  CREATE TABLE setting (id INTEGER PRIMARY KEY, key TEXT, value TEXT);`

/** Creates a SQLite database with these statements. */
export function writeDatabase(path: string, statements: readonly string[]): void {
  const database = new Database(path)
  for (const each of statements) database.exec(each)
  database.close()
}
