# SPDX-License-Identifier: GPL-3.0-or-later
"""Go through the list of contacts in a real window: a click on a row brings the playhead there, and Ctrl Z takes back
the run and not the click. How to run it: see test_buttons.py beside this file.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import test_buttons
from test_buttons import CLIP, armature

# Pixels from the top of the sidebar's region to the third row of the list, and to Why? with a row chosen.
THIRD_ROW, WHY = 355, 667


def steps(window):
    """The test. Yields the seconds until it goes on."""
    from footlock.rig import clip, contact_reports, correction, mapping

    yield from window.open_tab()
    bpy.ops.import_anim.bvh(filepath=str(CLIP))
    legs = mapping.of(armature())
    correction.scale_travel(armature(), clip.read(bpy.context.scene, armature(), legs), 1.25)
    bpy.ops.ed.undo_push(message="Import")
    bpy.ops.footlock.detect_contacts("EXEC_DEFAULT", True)
    bpy.ops.footlock.remove_sliding("EXEC_DEFAULT", True)
    armature().data.footlock.result_action = ""  # what stands above the list is not of this test
    bpy.ops.ed.undo_push(message="Removed")
    yield from window.settled()
    window.shot("listed")
    view = bpy.context.window_manager.footlock_report
    assert view.index == -1
    yield from window.click(THIRD_ROW)
    window.shot("chosen")
    kept = contact_reports.find(armature())
    assert view.index == 2, view.index
    assert bpy.context.scene.frame_current == 1 + kept.contacts[2].worst
    yield from window.click(WHY)
    window.shot("why")
    assert view.answer.count("\n") == 1 and view.answer.startswith("Left "), view.answer
    yield from window.undo()
    yield from window.undo()
    window.shot("undone")
    kept = contact_reports.find(armature())
    assert kept is not None and not kept.corrected, "the removal is not undone"
    assert contact_reports.is_current(bpy.context.scene, armature(), kept)


test_buttons.main(sys.argv[sys.argv.index("--") + 1 :], steps, test_buttons.only("FOOTLOCK_PT_report"))
