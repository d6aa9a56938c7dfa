// A stand-in for Flamenco Manager's documented interface for job types, since no farm is at hand.
//
//     node flamenco.js SCRIPT < JOB
//
// JOB has what a submitted job has, as JSON: {"name": …, "settings": {…}}. Prints the job type and the tasks of the job as
// JSON; ends with 1 and a message where the script asks for something that Flamenco does not have, or a setting is missing.
"use strict";

const fs = require("fs");
const path = require("path");
const vm = require("vm");

const SETTING = {
    key: "string", type: "string", subtype: "string", choices: "object", propargs: "object", description: "string",
    label: "string", default: "any", eval: "string", evalInfo: "object", visible: "string", required: "boolean",
    editable: "boolean",
};
const TYPES = { string: "string", int32: "number", float: "number", bool: "boolean" };
const SUBTYPES = ["file_path", "dir_path", "hashed_file_path"];
const VISIBLE = ["visible", "hidden", "submission", "web"];
// Commands of Flamenco Worker and their parameters, those that must be there first.
const COMMANDS = {
    "blender-render": [{ exe: "string", argsBefore: "list", blendfile: "string", args: "list" }, { exeArgs: "string" }],
    exec: [{ exe: "string", args: "list" }, {}],
    echo: [{ message: "string" }, {}],
};

function check(holds, message) {
    if (!holds) {
        throw new Error(message);
    }
}

function isA(value, kind) {
    if (kind === "list") {
        return Array.isArray(value) && value.every((one) => typeof one === "string");
    }
    return kind === "any" || typeof value === kind;
}

function checkJobType(jobType) {
    check(typeof jobType.label === "string" && Array.isArray(jobType.settings), "JOB_TYPE has no label or settings");
    const keys = new Set();
    for (const setting of jobType.settings) {
        for (const [name, value] of Object.entries(setting)) {
            check(name in SETTING && isA(value, SETTING[name]), `a setting has no such ${name}: ${value}`);
        }
        check(/^[a-z_]+$/.test(setting.key) && !keys.has(setting.key), `the key ${setting.key} is none, or twice there`);
        keys.add(setting.key);
        check(setting.type in TYPES, `there is no type ${setting.type}`);
        check(!setting.subtype || (setting.type === "string" && SUBTYPES.includes(setting.subtype)), "a subtype");
        check(!setting.visible || VISIBLE.includes(setting.visible), `nothing is visible ${setting.visible}`);
    }
}

function withDefaults(jobType, given) {
    const settings = {};
    for (const setting of jobType.settings) {
        const value = setting.key in given ? given[setting.key] : setting.default;
        if (value === undefined) {
            check(!setting.required, `the job has no ${setting.key}`);
            continue;
        }
        check(typeof value === TYPES[setting.type], `${setting.key} is no ${setting.type}`);
        settings[setting.key] = value;
    }
    return settings;
}

const author = {
    Task(name, type) {
        name = name.trim();
        check(name && type.trim(), "author.Task(name, type): both are required");
        const task = { uuid: `task ${name}`, name, type: type.trim(), commands: [], dependencies: [] };
        // What JSON shows are the data; functions are left out there.
        task.addCommand = (command) => task.commands.push({ ...command });
        task.addDependency = (other) => {
            check(other.uuid, "addDependency(task)");
            task.dependencies.push(other.uuid);
        };
        return task;
    },
    Command(name, parameters) {
        check(name in COMMANDS, `a worker has no command ${name}`);
        const [needed, more] = COMMANDS[name];
        for (const [key, kind] of Object.entries(needed)) {
            check(isA(parameters[key], kind), `${name} wants ${key} as a ${kind}`);
        }
        for (const key of Object.keys(parameters)) {
            check(key in needed || isA(parameters[key], more[key]), `${name} has no ${key}`);
        }
        return { name, parameters };
    },
};

// Words as a shell has them: quotes and backslashes.
function shellSplit(text) {
    const words = [];
    for (const [, word] of text.matchAll(/((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)/g)) {
        words.push(word.replace(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, one, two, three) =>
            one ?? (two !== undefined ? two.replace(/\\(.)/g, "$1") : three)));
    }
    return words;
}

function main(script, submitted) {
    const tasks = [];
    const context = vm.createContext({ author, path: path.posix, shellSplit, print() {}, alert() {} });
    const source = `"use strict";${fs.readFileSync(script, "utf8")}\n;({ JOB_TYPE, compileJob });`;
    const { JOB_TYPE: jobType, compileJob } = vm.runInContext(source, context, { filename: script });
    // What the script made is of another realm, in which arrays are others.
    const plain = JSON.parse(JSON.stringify(jobType));
    checkJobType(plain);
    const job = { name: submitted.name, settings: withDefaults(plain, submitted.settings) };
    job.addTask = (task) => {
        const added = JSON.parse(JSON.stringify(task));
        check(!tasks.some((one) => one.name === added.name), `two tasks are called ${added.name}`);
        check(added.dependencies.every((uuid) => tasks.some((one) => one.uuid === uuid)), "a task waits for none");
        tasks.push(added);
    };
    compileJob(job);
    return { jobType: plain, tasks };
}

try {
    process.stdout.write(JSON.stringify(main(process.argv[2], JSON.parse(fs.readFileSync(0, "utf8")))));
} catch (error) {
    process.stderr.write(`${error.message ?? error}\n`);
    process.exit(1);
}
