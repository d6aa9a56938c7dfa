// SPDX-License-Identifier: GPL-3.0-or-later
//
// A job type for Flamenco 3: removes foot sliding from all clips of a folder, many clips a task. How to use it is in
// docs/farm.md. Tasks are parts of the same sorted list of clips, so that they need not know their names, may run at the
// same time on different machines, and may be repeated: what is done is skipped.

const JOB_TYPE = {
    label: "Footlock: Remove Sliding",
    description: "Remove foot sliding from all clips of a folder",
    settings: [
        { key: "clips", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder of the .bvh, .fbx, .glb, .gltf and .blend files, with all folders in it" },
        { key: "output", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder for the corrected clips, in which the folders of the input are made again" },
        { key: "footlock", type: "string", subtype: "file_path", required: true, visible: "submission",
          description: "batch.py of Footlock, on storage that all workers share" },
        { key: "settings_file", type: "string", subtype: "file_path", default: "", visible: "submission",
          description: "Settings as Save for Batch writes them; empty for the defaults" },
        { key: "options", type: "string", default: "", visible: "submission",
          description: "Further options of batch.py, as on a command line" },
        { key: "clips_per_task", type: "int32", default: 25, propargs: { min: 1 }, visible: "submission",
          description: "About so many clips are one task" },
        { key: "processes", type: "int32", default: 0, propargs: { min: 0 }, visible: "submission",
          description: "Clips that a worker works on at the same time; 0 for one for each of its cores" },

        // Counted by Blender when the job is sent. Whatever it says, the tasks together have all clips.
        { key: "clip_count", type: "int32", required: true, propargs: { min: 1 }, visible: "web",
          eval: "max(1, sum(1 for p in Path(abspath(settings.clips)).rglob('*') "
              + "if p.suffix.lower() in ('.bvh', '.fbx', '.glb', '.gltf', '.blend')))",
          description: "How many clips the folder has" },
    ]
};

function compileJob(job) {
    const settings = job.settings;
    for (const key of ["clips", "output", "footlock"]) {
        if (!settings[key]) {
            throw `The setting "${key}" is empty: choose a path that all workers share.`;
        }
    }
    const perTask = Math.max(1, settings.clips_per_task);
    const parts = Math.max(1, Math.ceil(settings.clip_count / perTask));
    const tasks = [];
    for (let part = 1; part <= parts; part++) {
        // A clip that fails is in the summary. The task is done with it: to repeat it elsewhere would change nothing.
        const task = footlockTask(`part-${part}-of-${parts}`, settings, ["--part", `${part}/${parts}`, "--bad-clips-ok"]);
        job.addTask(task);
        tasks.push(task);
    }

    // All is done then, and skipped: this tries once more what has failed, and writes the summary of all clips. It fails
    // where a clip does.
    const summary = footlockTask("summary", settings, []);
    for (const task of tasks) {
        summary.addDependency(task);
    }
    job.addTask(summary);
}

function footlockTask(name, settings, more) {
    const task = author.Task(name, "blender");
    task.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: ["--background", "--factory-startup"],
        blendfile: "", // none is opened: Footlock opens the clips
        args: ["--python-exit-code", "1", "--python", settings.footlock, "--", ...footlockArguments(settings), ...more],
    }));
    return task;
}

function footlockArguments(settings) {
    const found = [settings.clips, "--output", settings.output];
    if (settings.settings_file) {
        found.push("--settings", settings.settings_file);
    }
    if (settings.processes > 0) {
        found.push("--jobs", `${settings.processes}`);
    }
    if (settings.options) {
        found.push(...shellSplit(settings.options));
    }
    return found;
}
