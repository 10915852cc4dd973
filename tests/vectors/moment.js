// Makes moment.tsv and moment_locales.tsv with moment.js itself: npm install moment@2.31.0, then node moment.js FOLDER.
// A cell is what moment().format(column) gives, in the zone, locale and week rule of its row ("en+monday": the week of `en`
// as the Calendar plugin changes it, by updateLocale with another `dow` alone).
"use strict";
const { execFileSync } = require("child_process");
const fs = require("fs");

const TOKENS = ("YYYY YY Q Qo MMMM MMM MM M Mo D Do DD DDD DDDo DDDD dddd ddd dd d do E W Wo WW w wo ww gggg gg GGGG GG HH H hh h " +
  "mm m ss s A a X x Z ZZ").split(" ");
const FORMATS = ["YYYY-MM-DD", "gggg-[W]ww", "GGGG-[W]WW-E", "YYYY-[Q]Q", "[Journal]/YYYY/MMM", "YYYY/MM-MMMM/YYYY-MM-DD-dddd",
  "dddd, Do MMMM YYYY", "D MMMM", "D-MMM-YY", "D MMM", "DDMMYY", "YYYYMMDDTHHmmssZZ", "YYYY-MM-DDTHH:mm:ssZ", "Hmm hmm Hmmss hmmss",
  "[a]b] YY", "[] YY", "\\YYYY YY", "\\[YY]", "YYYY年MM月DD日", "DDDDDDDo", "QQ WWW www", "h:mm a", "[YYYY] [[]YY", "Jour/YYYY", "YYYY\\\\MM",
  "[в] dddd"];
const DAYS = ["2020-12-31T12:00", "2021-01-01T12:00", "2021-01-03T12:00", "2022-01-01T12:00", "2023-12-31T23:59", "2024-02-29T06:30",
  "2024-12-29T12:00", "2024-12-30T12:00", "2026-01-01T00:00", "2026-03-01T12:00", "2026-03-28T23:59", "2026-03-29T00:59:59",
  "2026-03-29T01:00", "2026-10-25T00:30", "2026-10-25T01:30", "2026-02-28T23:30", "2026-11-11T11:11:11", "2026-08-22T21:03:07",
  "2027-01-03T12:00", "2027-12-31T10:59", "2000-02-29T00:00", "1999-12-31T23:59:59.999", "0999-01-02T12:00", "1970-01-01T00:00"];
const MAIN = ["en", "en-gb", "de", "fr", "en+monday", "de+sunday", "tr+saturday"];
const ZONES = ["UTC", "Europe/Berlin", "Asia/Tokyo", "Pacific/Kiritimati", "America/St_Johns"];
const OTHERS = ("en-au en-ca en-ie en-in en-nz cs da de-at de-ch es fi fr-ca fr-ch hu id it ja ko nb nl nn pl pt pt-br ro ru sk sv tr vi " +
  "zh-cn zh-tw").split(" ");
const SHOWN = ["MMMM", "MMM", "D MMMM", "D-MMM-YYYY", "D MMM", "dddd", "ddd", "dd", "[в] dddd", "Mo", "Qo", "Do", "DDDo", "do", "wo", "Wo",
  "gggg-ww", "A", "a"];
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

function row(moment, columns, locale, zone, day) {
  const [name, begins] = locale.split("+");
  const rule = { ...(moment.locale(name), moment.localeData()._week) };
  if (moment.locale() !== name) throw new Error(name);
  if (begins) moment.updateLocale(name, { week: { dow: WEEKDAYS.indexOf(begins) } });
  const cells = columns.map((column) => moment(day + "Z").format(column));
  if (begins) moment.updateLocale(name, { week: rule });
  return [locale, zone, day, ...cells].join("\t");
}

function others(moment) {
  const rows = [];
  OTHERS.forEach((locale) => {
    for (let month = 0; month < 12; month += 1) {
      const day = String([3, 8, 15, 21, 1, 2, 27, 10, 14, 23, 30, 31][month]).padStart(2, "0");
      const time = ["03:59", "04:00", "05:59", "08:59", "11:00", "11:29", "12:29", "14:59", "16:59", "18:00", "19:00", "00:00"][month];
      rows.push(row(moment, SHOWN, locale, "UTC", `2026-${String(month + 1).padStart(2, "0")}-${day}T${time}`));
    }
  });
  return rows;
}

if (process.argv[2] === "--zone") {
  const moment = require("moment");
  const rows = [];
  const locales = process.env.TZ === "UTC" ? MAIN : ["en", "de"];
  locales.forEach((locale) => DAYS.forEach((day) => rows.push(row(moment, [...TOKENS, ...FORMATS], locale, process.env.TZ, day))));
  process.stdout.write(rows.join("\n") + "\n");
} else {
  const folder = process.argv[2];
  const head = (columns) => ["locale", "zone", "moment", ...columns].join("\t") + "\n";
  const made = ZONES.map((zone) => execFileSync(process.execPath, [__filename, "--zone"], { env: { ...process.env, TZ: zone } }));
  fs.writeFileSync(`${folder}/moment.tsv`, head([...TOKENS, ...FORMATS]) + made.join(""));
  process.env.TZ = "UTC";
  fs.writeFileSync(`${folder}/moment_locales.tsv`, head(SHOWN) + others(require("moment")).join("\n") + "\n");
}
